/** Returns the page address with another location in one of the panes; the other pane stays. */
export function buildPanePath(current: URLSearchParams, pane: string, location: string): string {
  const query = new URLSearchParams(current);
  query.delete(pane);
  if (location !== '') query.set(pane, location);
  return `/sync/files${query.size === 0 ? '' : `?${query.toString()}`}`;
}
