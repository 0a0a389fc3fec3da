/** Routes whose latest reply contains texts of the host, which are in the language of the request. */
const routesWithTexts = new WeakSet<object>();

/** Records whether the latest reply of a route contains texts of the host. */
export function recordReplyLanguage(route: object, hasTexts: boolean): void {
  if (hasTexts) routesWithTexts.add(route);
  else routesWithTexts.delete(route);
}

/** Replies that contain texts of the host. */
const repliesWithTexts = new WeakSet<object>();

/** Records that a parsed reply contains texts of the host. */
export function markReplyWithTexts(reply: object): void {
  repliesWithTexts.add(reply);
}

/** Returns true when a parsed reply contains texts of the host. */
export function isReplyWithTexts(reply: unknown): boolean {
  return typeof reply === 'object' && reply !== null && repliesWithTexts.has(reply);
}

/** Returns true when the latest reply of a route contains texts of the host. */
export function hasHostTexts(route: object): boolean {
  return routesWithTexts.has(route);
}
