import * as m from '#messages/addons-editor';

/** Labels of the content types of addons. */
const typeLabels: Readonly<Record<string, () => string>> = {
  movie: m.typeLabelMovie,
  series: m.typeLabelSeries,
  anime: m.typeLabelAnime,
  tv: m.typeLabelTv,
  channel: m.typeLabelChannel,
  events: m.typeLabelEvents,
};

/** Returns the label of a content type, such as `films` for `movie`; unknown types are returned as is. */
export function getTypeLabel(type: string): string {
  return Object.hasOwn(typeLabels, type) ? (typeLabels[type]?.() ?? type) : type;
}
