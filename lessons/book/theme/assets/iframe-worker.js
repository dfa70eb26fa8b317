// The search runs in a worker, which browsers do not start for a page on disk (file:). There, a
// hidden frame takes its place: same script, same messages, in the page's own thread.

class FrameWorker extends EventTarget {
  constructor(address) {
    super();
    this.frame = document.createElement("iframe");
    this.frame.hidden = true;
    document.body.append(this.frame);
    const inside = this.frame.contentWindow;
    inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
    inside.importScripts = async (...addresses) => {
      for (const each of addresses) await this.run(each);
    };
    this.ready = this.run(address);
  }

  run(address) {
    return new Promise((resolve, reject) => {
      const script = this.frame.contentDocument.createElement("script");
      Object.assign(script, { src: new URL(address, location), onload: resolve, onerror: reject });
      this.frame.contentDocument.body.append(script);
    });
  }

  async postMessage(data) {
    await this.ready;
    const inside = this.frame.contentWindow;
    inside.dispatchEvent(new inside.MessageEvent("message", { data }));
  }

  terminate() {
    this.frame.remove();
  }
}

if (location.protocol === "file:") window.Worker = FrameWorker;
