/** What catalogs and streams are of, as addons name it, in words. */
const typeWords: Readonly<Record<string, string>> = {
  movie: 'films',
  series: 'series',
  anime: 'anime',
  tv: 'live TV',
  channel: 'channels',
  events: 'events',
};

/** `films` for `movie`; what nobody knows keeps its own word. */
export function typeWord(type: string): string {
  return Object.hasOwn(typeWords, type) ? (typeWords[type] ?? type) : type;
}
