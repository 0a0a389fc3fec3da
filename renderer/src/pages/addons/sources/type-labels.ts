/** Labels of the content types of addons. */
const typeLabels: Readonly<Record<string, string>> = {
  movie: 'films',
  series: 'series',
  anime: 'anime',
  tv: 'live TV',
  channel: 'channels',
  events: 'events',
};

/** Returns the label of a content type, such as `films` for `movie`; unknown types are returned as is. */
export function getTypeLabel(type: string): string {
  return Object.hasOwn(typeLabels, type) ? (typeLabels[type] ?? type) : type;
}
