import { predefinedFormats, type FormatTemplates } from './predefined.ts';

/** Format that the editor offers as a start for own texts. */
interface FormatStyle extends FormatTemplates {
  readonly id: string;
}

const cached = '{service.cached::istrue["cached"||""]}{service.cached::isfalse["not cached"||""]}';
const resolution = "{stream.resolution::default('?')}";
const episode = '{stream.seasonEpisode::exists[" {stream.seasonEpisode::join(\'\')}"||""]}';

/** Styles of Homeport. They are templates only, since other programs do not know them as formats. */
const ownStyles: Readonly<Record<string, FormatTemplates>> = {
  plain: {
    name: `{addon.name}\n${resolution}{service.shortName::exists[" {service.shortName}"||""]}`,
    description:
      `{stream.title::exists["{stream.title::title}${episode}"||"{stream.filename}"]}\n` +
      '{stream.quality::exists["{stream.quality}"||""]}{stream.encode::exists[", {stream.encode}"||""]}' +
      '{stream.size::exists[", {stream.size::bytes}"||""]}\n' +
      "{stream.languages::join(', ')}\n" +
      `${cached}{stream.message::exists["\n{stream.message}"||""]}`,
  },
  compact: {
    name: `${resolution}{service.cached::istrue[" ⚡"||""]}{service.cached::isfalse[" ⏳"||""]}`,
    description:
      '{stream.size::exists["{stream.size::bytes} "||""]}{stream.quality::exists["{stream.quality} "||""]}' +
      '{stream.visualTags::exists["{stream.visualTags::join(\' \')} "||""]}{stream.languageEmojis::join(\' \')}' +
      '{stream.message::exists["\n{stream.message}"||""]}',
  },
  technical: {
    name: `{addon.name}\n${resolution} {stream.encode}`,
    description:
      '{stream.filename}\n' +
      '{stream.quality::exists["Source: {stream.quality}  "||""]}{stream.releaseGroup::exists["Group: {stream.releaseGroup}"||""]}\n' +
      '{stream.visualTags::exists["Video: {stream.visualTags::join(\', \')}"||""]}\n' +
      '{stream.audioTags::exists["Audio: {stream.audioTags::join(\', \')} {stream.audioChannels::join(\', \')}"||""]}\n' +
      '{stream.size::exists["Size: {stream.size::bytes2}  "||""]}{stream.seeders::exists["Seeders: {stream.seeders}  "||""]}' +
      '{stream.indexer::exists["Indexer: {stream.indexer}"||""]}\n' +
      '{stream.message::exists["{stream.message}"||""]}',
  },
};

/** Returns the templates of all formats and of the styles of Homeport. */
export function listFormatStyles(): readonly FormatStyle[] {
  return Object.entries({ ...predefinedFormats, ...ownStyles }).map(([id, { name, description }]) => ({
    id,
    name,
    description,
  }));
}
