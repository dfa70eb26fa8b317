// Every word of the page in both languages. Types, statuses and ids are the contract's and stay.

const WORDS = {
  title: ["Trace", "Trace 查看器"],
  language: ["Language", "语言"],
  theme: ["Theme", "配色"],
  themeSystem: ["System theme", "跟随系统"],
  themeLight: ["Light", "浅色"],
  themeDark: ["Dark", "深色"],
  help: ["Keys", "按键"],
  close: ["Close", "关闭"],
  comparison: ["Comparison", "比较"],
  transport: ["Timeline", "时间线"],
  scrubber: ["Event", "事件"],
  doFirst: ["First event", "第一个事件"],
  doTurnBefore: ["Turn before", "上一轮"],
  doBack: ["Back one event", "后退一个事件"],
  doPlay: ["Play", "播放"],
  doPause: ["Pause", "暂停"],
  doNext: ["Next event", "下一个事件"],
  doNextTurn: ["Next turn", "下一轮"],
  doLast: ["Last event", "最后一个事件"],
  nextError: ["Next error", "下一个错误"],
  errorBefore: ["Error before", "上一个错误"],
  speed: ["Speed", "速度"],
  search: ["Search", "搜索"],
  filters: ["Filter by type and actor", "按类型和行为者筛选"],
  actors: ["Actors", "行为者"],
  types: ["Types", "类型"],
  all: ["Show all", "全部显示"],
  messages: ["Messages: what the model sees", "消息：模型看到的"],
  events: ["Events: what observers see", "事件：观察者看到的"],
  detail: ["This event", "当前事件"],
  call: ["This call", "这次调用"],
  whole: ["The whole event", "完整事件"],
  where: ["event {n} of {count} · turn {turn} of {turns} · {seconds} s", "事件 {n}/{count} · 第 {turn}/{turns} 轮 · {seconds} 秒"],
  noFurther: ["there is no further one that way", "那个方向没有更多了"],
  nothing: ["no event yet", "还没有事件"],
  state: ["The run is {state}", "运行状态：{state}"],
  stateOf: ["{letter} is {state}", "{letter}：{state}"],
  found: ["{n} of {count} events", "{count} 个事件中的 {n} 个"],
  searching: ["searching… {percent}%", "搜索中… {percent}%"],
  earlier: ["Show earlier messages ({n})", "显示更早的消息（{n}）"],
  request: ["In the latest request the model sees {n}: {roles}", "最近一次请求里，模型看到 {n} 条：{roles}"],
  resumed: ["{n} messages from before are not in this trace.", "此前的 {n} 条消息不在这份 trace 里。"],
  noMessage: ["No message yet.", "还没有消息。"],
  more: ["… and {n} more characters", "……还有 {n} 个字符"],
  by: ["by {actor}", "行为者：{actor}"],
  because: ["because of line {line}", "起因：第 {line} 行"],
  line: ["line {line}", "第 {line} 行"],
  requested: ["request", "请求"],
  proposed: ["call", "调用"],
  asked: ["approval asked", "请求批准"],
  decided: ["decision", "决定"],
  started: ["start", "开始"],
  output: ["output", "输出"],
  ended: ["result", "结果"],
  acknowledged: ["acknowledged", "已确认"],
  torn: ["The last {n} bytes are not a whole line.", "最后 {n} 个字节不是完整的一行。"],
  parted: ["First divergence", "首次分歧"],
  toDivergence: ["Go to the first divergence", "跳到首次分歧"],
  partedAt: ["turn {turn}, another {about}{pointer}", "第 {turn} 轮，{about}不同{pointer}"],
  partedBefore: ["before the first turn, another {about}{pointer}", "第一轮之前，{about}不同{pointer}"],
  aboutEvent: ["event", "事件"],
  aboutDecision: ["decision", "决定"],
  silent: ["says nothing more", "到此为止"],
  has: ["has", "的值"],
  decidedOn: ["decided", "的决定"],
  why: ["because of", "起因"],
  verdictBytes: ["Same bytes", "字节相同"],
  verdictNormalised: ["Same after normalisation", "规范化后相同"],
  verdictDecisions: ["Same decisions", "决定相同"],
  verdictOutcome: ["Same outcome", "结局相同"],
  verdictDifferent: ["Different", "不同"],
  following: ["Following the file", "正在跟随文件"],
  interrupted: ["The server has gone; this is what was read", "服务已停止；这里是已读到的内容"],
  keyPlay: ["Play, pause", "播放、暂停"],
  keyStep: ["Next event, back one", "下一个、上一个事件"],
  keyList: ["Up and down in the list", "在列表中上下移动"],
  keyEnds: ["First, last event", "第一个、最后一个事件"],
  keyTurns: ["Next turn, turn before", "下一轮、上一轮"],
  keyErrors: ["Next error, error before", "下一个、上一个错误"],
  keySearch: ["Search; Escape clears", "搜索；Esc 清除"],
  keySpeed: ["Faster, slower", "加快、减慢"],
  keyDivergence: ["First divergence of two traces", "两份 trace 的首次分歧"],
  keyHelp: ["This list", "本列表"],
  idle: ["idle", "空闲"],
  asking: ["asking", "请求中"],
  streaming: ["streaming", "接收中"],
  answered: ["answered", "已回答"],
  approving: ["approving", "待批准"],
  acting: ["acting", "执行中"],
  waiting: ["waiting", "等待"],
  failed: ["failed", "失败"],
  stopped: ["stopped", "已停止"],
  user: ["user", "用户"],
  model: ["model", "模型"],
  assistant: ["assistant", "助手"],
  tool: ["tool", "工具"],
  harness: ["harness", "harness"],
  policy: ["policy", "策略"],
  system: ["system", "系统"],
};
const LANGUAGES = ["en", "zh"];
const TAGS = { en: "en", zh: "zh-Hans" };

/** The language of the page: what was asked for, else the browser's. */
let language = "en";

/** @param {string} asked "en", "zh", or a browser's tag */
export function speak(asked) {
  language = LANGUAGES.find((known) => asked.toLowerCase().startsWith(known)) ?? "en";
  document.documentElement.lang = TAGS[language];
  return language;
}

/** A phrase with its values put in. A word that the page does not know stays as it is. */
export function say(key, values = {}) {
  const phrase = Object.hasOwn(WORDS, key) ? WORDS[key][LANGUAGES.indexOf(language)] : key;
  return phrase.replace(/\{(\w+)\}/g, (_, name) => String(values[name]));
}

/** Count for people: 100,000. */
export function count(number) {
  return number.toLocaleString(TAGS[language]);
}

/** Puts the words into all elements under `root` that name theirs. */
export function relabel(root) {
  for (const element of root.querySelectorAll("[data-say]")) {
    element.textContent = say(element.dataset.say);
  }
  for (const element of root.querySelectorAll("[data-label]")) {
    element.setAttribute("aria-label", say(element.dataset.label));
    if (element instanceof HTMLButtonElement) element.title = say(element.dataset.label);
  }
}
