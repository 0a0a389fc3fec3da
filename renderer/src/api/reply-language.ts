/** Routes whose latest reply contains texts of the host, which are in the language of the request. */
const routesWithTexts = new WeakSet<object>();

/** Records whether the latest reply of a route contains texts of the host. */
export function recordReplyLanguage(route: object, hasTexts: boolean): void {
  if (hasTexts) routesWithTexts.add(route);
  else routesWithTexts.delete(route);
}

/** Returns true when the latest reply of a route contains texts of the host. */
export function hasHostTexts(route: object): boolean {
  return routesWithTexts.has(route);
}
