import { compileTemplate, type Template } from './template.ts';

/** Templates of a stream. */
export interface FormatTemplates {
  readonly name: string;
  readonly description: string;
}

const proxyMark = '{stream.proxied::istrue["🕵️‍♂️ "||""]}';
const p2pMark = '{stream.type::=p2p["[P2P] "||""]}';
const cacheMark =
  '{service.cached::istrue["[{service.shortName}⚡] "||""]}{service.cached::isfalse["[{service.shortName}⏳] "||""]}';
const titleWithYear = '{stream.title::title}{stream.year::exists[" ({stream.year})"||""]}';

/** Formats that other tools have under the same names. */
export const predefinedFormats: Readonly<Record<string, FormatTemplates>> = {
  torrentio: {
    name:
      `${proxyMark}${p2pMark}{service.cached::istrue["[{service.shortName}+] "||""]}` +
      '{service.cached::isfalse["[{service.shortName} download] "||""]}' +
      "{addon.name} {stream.resolution::default('Unknown')}\n{stream.visualTags::join(' | ')}",
    description:
      '{stream.message::exists["ℹ️{stream.message}"||""]}\n{stream.folderName}\n{stream.filename}\n' +
      '{stream.size::exists["💾{stream.size::bytes2} "||""]}' +
      '{stream.seeders::exists["👤{stream.seeders} "||""]}{stream.age::exists["📅{stream.age} "||""]}' +
      '{stream.indexer::exists["⚙️{stream.indexer}"||""]}\n' +
      "{stream.languageEmojis::join(' / ')}",
  },
  torbox: {
    name:
      `${proxyMark}${p2pMark}{addon.name}{service.cached::istrue[" (Instant {service.shortName})"||""]}` +
      '{service.cached::isfalse[" ({service.shortName})"||""]}' +
      '{stream.resolution::exists[" ({stream.resolution})"||""]}',
    description:
      "Quality: {stream.quality::default('Unknown')}\nName: {stream.filename::default('Unknown')}\n" +
      'Size: {stream.size::exists["{stream.size::bytes} "||""]}' +
      '{stream.indexer::exists["| Source: {stream.indexer} "||""]}' +
      '{stream.duration::exists["| Duration: {stream.duration::time}"||""]}\n' +
      'Languages: {stream.languages::join(\', \')}\n{stream.message::exists["Message: {stream.message}"||""]}',
  },
  gdrive: {
    name: `${proxyMark}${cacheMark}${p2pMark}{addon.name} {stream.resolution}`,
    description:
      '{stream.quality::exists["🎥 {stream.quality} "||""]}' +
      '{stream.encode::exists["🎞️ {stream.encode} "||""]}' +
      '{stream.releaseGroup::exists["🏷️ {stream.releaseGroup} "||""]}\n' +
      '{stream.visualTags::exists["📺 {stream.visualTags::join(\' | \')} "||""]}' +
      '{stream.audioTags::exists["🎧 {stream.audioTags::join(\' | \')} "||""]}' +
      '{stream.audioChannels::exists["🔊 {stream.audioChannels::join(\' | \')}"||""]}\n' +
      '{stream.size::exists["📦 {stream.size::bytes} "||""]}' +
      '{stream.seeders::exists["👥 {stream.seeders} "||""]}{stream.age::exists["📅 {stream.age} "||""]}' +
      '{stream.indexer::exists["🔍 {stream.indexer}"||""]}\n' +
      '{stream.languages::exists["🌎 {stream.languages::join(\' | \')}"||""]}\n' +
      '{stream.filename::exists["📁 {stream.filename}"||""]}\n{stream.message::exists["ℹ️ {stream.message}"||""]}',
  },
  lightgdrive: {
    name: `${proxyMark}${cacheMark}${p2pMark}{addon.name}{stream.resolution::exists[" {stream.resolution}"||""]}`,
    description:
      `{stream.title::exists["📁 ${titleWithYear}"||""]}` +
      `{stream.seasonEpisode::exists[" {stream.seasonEpisode::join('•')}"||""]}\n` +
      '{stream.quality::exists["🎥 {stream.quality} "||""]}' +
      '{stream.encode::exists["🎞️ {stream.encode} "||""]}' +
      '{stream.releaseGroup::exists["🏷️ {stream.releaseGroup}"||""]}\n' +
      '{stream.visualTags::exists["📺 {stream.visualTags::join(\' • \')} "||""]}' +
      '{stream.audioTags::exists["🎧 {stream.audioTags::join(\' • \')} "||""]}' +
      '{stream.audioChannels::exists["🔊 {stream.audioChannels::join(\' • \')}"||""]}\n' +
      '{stream.size::exists["📦 {stream.size::bytes} "||""]}{stream.age::exists["📅 {stream.age} "||""]}' +
      '{stream.indexer::exists["🔍 {stream.indexer}"||""]}\n' +
      '{stream.languageEmojis::exists["🌐 {stream.languageEmojis::join(\' / \')}"||""]}' +
      '\n{stream.message::exists["ℹ️ {stream.message}"||""]}',
  },
  minimalisticgdrive: {
    name:
      '{stream.resolution::=2160p["✨ 4K"||""]}{stream.resolution::=1440p["📀 2K"||""]}' +
      '{stream.resolution::=1080p["🧿1080p"||""]}{stream.resolution::=720p["💿720p"||""]}' +
      "{stream.resolution::in('576p','480p','360p','240p','144p')::istrue[\"💩{stream.resolution}\"||\"\"]}" +
      '{stream.resolution::exists[""||"N/A"]}' +
      '{service.cached::istrue[" 🎫 "||""]}{service.cached::isfalse[" 🎟️ "||""]}\n{stream.quality::upper}',
    description:
      '{stream.visualTags::exists["🔆 {stream.visualTags::join(\' • \')}  "||""]}' +
      '{stream.audioTags::exists["🔊 {stream.audioTags::join(\' • \')}"||""]}\n' +
      '{stream.size::exists["📦 {stream.size::bytes} "||""]}' +
      '\n{stream.languages::exists["🌎 {stream.languages::join(\' • \')}"||""]}',
  },
  prism: {
    name:
      '{stream.resolution::=2160p["🔥4K UHD"||""]}{stream.resolution::=1440p["✨ QHD"||""]}' +
      '{stream.resolution::=1080p["🚀 FHD"||""]}{stream.resolution::=720p["💿 HD"||""]}' +
      "{stream.resolution::in('576p','480p','360p','240p','144p')::istrue[\"💩 Low Quality\"||\"\"]}" +
      '{stream.resolution::exists[""||"💩 Unknown"]}',
    description:
      `{stream.title::exists["🎬 ${titleWithYear} "||""]}` +
      `{stream.seasonEpisode::exists["🍂 {stream.seasonEpisode::join('')} "||""]}\n` +
      '{stream.quality::exists["🎥 {stream.quality} "||""]}' +
      '{stream.visualTags::exists["📺 {stream.visualTags::join(\' | \')} "||""]}' +
      '{stream.encode::exists["🎞️ {stream.encode} "||""]}\n' +
      '{stream.audioTags::exists["🎧 {stream.audioTags::join(\' | \')} "||""]}' +
      '{stream.audioChannels::exists["🔊 {stream.audioChannels::join(\' | \')} "||""]}' +
      '{stream.languageEmojis::exists["🗣️ {stream.languageEmojis::join(\' / \')}"||""]}\n' +
      '{stream.size::exists["📦 {stream.size::bytes} "||""]}' +
      '{stream.type::=p2p::and::stream.seeders::exists["🌱 {stream.seeders} "||""]}' +
      '{stream.age::exists["📅 {stream.age} "||""]}\n' +
      '{stream.releaseGroup::exists["🏷️ {stream.releaseGroup} "||""]}' +
      '{stream.indexer::exists["📡 {stream.indexer} "||""]}\n' +
      '{service.cached::istrue["⚡Ready ({service.shortName}) "||""]}' +
      '{service.cached::isfalse["❌ Not Ready ({service.shortName}) "||""]}' +
      '{stream.type::=http["💻 Web Link "||""]}{stream.type::=p2p["⚠️ P2P "||""]}' +
      '{stream.type::=youtube["▶️ Youtube "||""]}{stream.type::=live["📺 Live "||""]}' +
      '🔍{addon.name} \n{stream.message::exists["ℹ️ {stream.message}"||""]}',
  },
  tamtaro: {
    name:
      '{stream.resolution::=2160p["   4K "||"{stream.resolution::upper}"]}' +
      '{stream.type::=p2p["⁽ᵖ²ᵖ⁾"||""]}{stream.type::=http["⁽ʷᵉᵇ⁾"||""]}' +
      '{stream.type::=youtube["⁽ʸᵗ⁾"||""]}{stream.type::=external["⁽ᵉˣᵗ⁾"||""]}' +
      '{stream.type::=live["⁽ˡᶦᵛᵉ⁾"||""]}' +
      '{service.cached::istrue["    ⚡"||""]}{service.cached::isfalse["    ⏳"||""]}\n' +
      '{stream.quality::exists["  \u2329{stream.quality::replace(\'BluRay REMUX\',\'Remux\')::title}\u232a"||""]}',
    description:
      `{stream.title::exists["✎  ${titleWithYear} "||""]}` +
      `{stream.seasonEpisode::exists["{stream.seasonEpisode::join('')} "||""]}\n` +
      '{stream.encode::exists["▣  {stream.encode}  "||""]}' +
      '{stream.visualTags::exists["✦  {stream.visualTags::join(\' · \')}  \n"||""]}' +
      '{stream.audioTags::exists["♬  {stream.audioTags::join(\' · \')}  "||""]}' +
      '{stream.audioChannels::exists["♯  {stream.audioChannels::join(\' · \')} "||""]}\n' +
      '{stream.size::exists["◈ {stream.size::bytes}"||""]}' +
      '{stream.type::=p2p::and::stream.seeders::exists["⇄ {stream.seeders}❦ "||""]}\n' +
      '⛉ {service.shortName::exists["[{service.shortName}] "||""]}{addon.name}' +
      '{stream.releaseGroup::exists[" · {stream.releaseGroup}"||""]}' +
      '\n{stream.message::exists["ℹ️ {stream.message}"||""]}',
  },
};

/** Compiled templates of a format. */
export interface Formatter {
  readonly name: Template;
  readonly description: Template;
}

/** Selected format with custom templates. */
export interface ConfiguredFormat {
  readonly id: string;
  readonly definitions?:
    | {
        readonly custom?: FormatTemplates | null | undefined;
        readonly overrides?: Readonly<Record<string, FormatTemplates | null | undefined>> | null | undefined;
      }
    | null
    | undefined;
  readonly definition?: FormatTemplates | null | undefined;
}

/** Compiles a format. Unknown IDs use the format of Torrentio. */
export function compileFormat({ id, definitions, definition }: ConfiguredFormat): Formatter {
  const overrides = definitions?.overrides ?? {};
  const customTemplates =
    id === 'custom' ? (definitions?.custom ?? definition) : Object.hasOwn(overrides, id) ? overrides[id] : undefined;
  const predefinedTemplates = Object.hasOwn(predefinedFormats, id) ? predefinedFormats[id] : undefined;
  const templates = customTemplates ??
    predefinedTemplates ??
    predefinedFormats['torrentio'] ?? { name: '', description: '' };
  return { name: compileTemplate(templates.name), description: compileTemplate(templates.description) };
}
