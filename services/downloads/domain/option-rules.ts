import { postprocessorArguments } from './postprocessors.ts';

/** Turns a value into arguments; undefined when it is none that may be. */
export type Rule = (value: unknown) => readonly string[] | undefined;

/** The value is part of the argument itself, so that nothing it begins with makes it another option. */
function argument(name: string, value: string | number): readonly string[] {
  return [`${name}=${value}`];
}

function flag(on: string, off?: string): Rule {
  return (value) => (value === true ? [on] : value === false ? (off === undefined ? [] : [off]) : undefined);
}

function number(name: string, least: number, most: number): Rule {
  return (value) => {
    const given = typeof value === 'string' && /^\d+(\.\d+)?$/.test(value) ? Number(value) : value;
    const fits = typeof given === 'number' && given >= least && given <= most;
    return fits ? argument(name, given) : undefined;
  };
}

function whole(name: string, least: number, most: number): Rule {
  const rule = number(name, least, most);
  return (value) => (Number.isInteger(Number(value)) ? rule(value) : undefined);
}

/** Bytes, also as `500K` or `4.2M`. */
function bytes(name: string): Rule {
  return (value) => {
    const text = typeof value === 'number' && value > 0 ? String(Math.round(value)) : value;
    return typeof text === 'string' && /^\d+(\.\d+)?[KMGTPEZY]?$/i.test(text) ? argument(name, text) : undefined;
  };
}

/** A number of tries, also without an end. */
function tries(name: string): Rule {
  const rule = whole(name, 0, 1_000_000);
  return (value) => (value === 'inf' || value === 'infinite' ? argument(name, 'infinite') : rule(value));
}

/** One line of text that fits the pattern. */
function text(name: string, pattern = /^[^\p{Cc}]{1,2000}$/u): Rule {
  return (value) =>
    typeof value === 'string' && pattern.test(value) && value !== '-' ? argument(name, value) : undefined;
}

/** A list, or the same with commas. */
function list(name: string, each: RegExp): Rule {
  return (value) => {
    const parts: unknown = typeof value === 'string' ? value.split(',').map((part) => part.trim()) : value;
    const fits = Array.isArray(parts) && parts.length > 0 && parts.length <= 200;
    if (!fits || !parts.every((part) => typeof part === 'string' && each.test(part))) return undefined;
    return argument(name, parts.join(','));
  };
}

const headers: Rule = (value) => {
  const entries = entriesOf(value);
  const fits = entries?.every(
    ([name, content]) =>
      /^[A-Za-z0-9-]{1,64}$/.test(name) && typeof content === 'string' && /^[^\p{Cc}]{1,1000}$/u.test(content),
  );
  return fits === true ? entries?.map(([name, content]) => `--add-headers=${name}:${String(content)}`) : undefined;
};

/** `{"youtube": {"player_client": ["web", "ios"]}}` */
const extractorArguments: Rule = (value) => {
  const found: string[] = [];
  for (const [extractor, content] of entriesOf(value) ?? [['', undefined]]) {
    const pairs = entriesOf(content)?.map(([key, given]) => ({ key, values: Array.isArray(given) ? given : [given] }));
    const fits = pairs?.every(
      ({ key, values }) =>
        /^[a-z0-9_-]{1,64}$/i.test(key) &&
        values.every((each) => /^[^;\p{Cc}]{1,2000}$/u.test(String(each)) && typeof each !== 'object'),
    );
    if (fits !== true || pairs === undefined || !/^[a-z0-9_+-]{1,64}$/i.test(extractor)) return undefined;
    const written = pairs
      .map(({ key, values }) => `${key}=${values.map((each) => String(each).replaceAll(',', '\\,')).join(',')}`)
      .join(';');
    found.push(`--extractor-args=${extractor}:${written}`);
  }
  return found;
};

export function entriesOf(value: unknown): readonly [string, unknown][] | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.entries(value) : undefined;
}

const day = 24 * 3600;
const segment = /^-?(sponsor|selfpromo|interaction|intro|outro|preview|filler|music_offtopic|hook|all|default)$/;
const markedSegment = new RegExp(segment.source.replace('hook', 'hook|poi_highlight|chapter'));
/** A range of yt-dlp's `--playlist-items`. */
const range = '(?:[+-]?\\d+)?(?:[:-](?:[+-]?\\d+|inf(?:inite)?)?(?::[+-]?\\d+)?)?';

/**
 * What may be set: options of how to fetch and what to choose. None that names a program, a folder or a file, reads
 * another configuration, or changes what the service itself relies on.
 */
export const rules: Readonly<Record<string, Rule>> = {
  format: text('--format'),
  format_sort: list('--format-sort', /^\+?[A-Za-z0-9_]+([:~][^,\p{Cc}]*)?$/u),
  format_sort_force: flag('--format-sort-force', '--no-format-sort-force'),
  prefer_free_formats: flag('--prefer-free-formats', '--no-prefer-free-formats'),
  merge_output_format: text('--merge-output-format', /^(mp4|mkv|webm|mov|avi|flv)(\/(mp4|mkv|webm|mov|avi|flv))*$/),
  ratelimit: bytes('--limit-rate'),
  throttledratelimit: bytes('--throttled-rate'),
  concurrent_fragment_downloads: whole('--concurrent-fragments', 1, 256),
  http_chunk_size: bytes('--http-chunk-size'),
  buffersize: bytes('--buffer-size'),
  retries: tries('--retries'),
  fragment_retries: tries('--fragment-retries'),
  extractor_retries: tries('--extractor-retries'),
  socket_timeout: number('--socket-timeout', 0.1, 3600),
  sleep_interval: number('--sleep-interval', 0, day),
  max_sleep_interval: number('--max-sleep-interval', 0, day),
  sleep_interval_requests: number('--sleep-requests', 0, day),
  sleep_interval_subtitles: number('--sleep-subtitles', 0, day),
  min_filesize: bytes('--min-filesize'),
  max_filesize: bytes('--max-filesize'),
  skip_unavailable_fragments: flag('--skip-unavailable-fragments', '--abort-on-unavailable-fragments'),
  hls_use_mpegts: flag('--hls-use-mpegts', '--no-hls-use-mpegts'),
  live_from_start: flag('--live-from-start', '--no-live-from-start'),
  geo_bypass_country: text('--xff', /^[A-Za-z]{2}$/),
  geo_bypass_ip_block: text('--xff', /^\d{1,3}(\.\d{1,3}){3}\/\d{1,2}$/),
  geo_bypass: flag('--xff=default', '--xff=never'),
  nocheckcertificate: flag('--no-check-certificates'),
  impersonate: text('--impersonate', /^[a-z0-9._:-]{0,64}$/i),
  http_headers: headers,
  user_agent: (value) => headers({ 'User-Agent': value }),
  referer: (value) => headers({ Referer: value }),
  extractor_args: extractorArguments,
  age_limit: whole('--age-limit', 0, 99),
  writesubtitles: flag('--write-subs', '--no-write-subs'),
  writeautomaticsub: flag('--write-auto-subs', '--no-write-auto-subs'),
  embedsubtitles: flag('--embed-subs', '--no-embed-subs'),
  subtitleslangs: list('--sub-langs', /^-?[\w.*+?^$|()[\]{}\\-]{1,100}$/),
  subtitlesformat: text('--sub-format', /^[\w-]+(\/[\w-]+)*$/),
  writethumbnail: flag('--write-thumbnail', '--no-write-thumbnail'),
  embedthumbnail: flag('--embed-thumbnail', '--no-embed-thumbnail'),
  addmetadata: flag('--embed-metadata', '--no-embed-metadata'),
  addchapters: flag('--embed-chapters', '--no-embed-chapters'),
  writedescription: flag('--write-description', '--no-write-description'),
  updatetime: flag('--mtime', '--no-mtime'),
  restrictfilenames: flag('--restrict-filenames', '--no-restrict-filenames'),
  windowsfilenames: flag('--windows-filenames', '--no-windows-filenames'),
  sponsorblock_mark: list('--sponsorblock-mark', markedSegment),
  sponsorblock_remove: list('--sponsorblock-remove', segment),
  writeinfojson: flag('--write-info-json', '--no-write-info-json'),
  getcomments: flag('--write-comments', '--no-write-comments'),
  write_all_thumbnails: flag('--write-all-thumbnails'),
  allsubtitles: flag('--sub-langs=all'),
  trim_file_name: whole('--trim-filenames', 0, 1000),
  playliststart: whole('--playlist-start', 1, 1_000_000),
  playlistend: whole('--playlist-end', 1, 1_000_000),
  playlist_items: text('--playlist-items', new RegExp(`^${range}(?:,${range})*$`)),
  allow_multiple_video_streams: flag('--video-multistreams', '--no-video-multistreams'),
  allow_multiple_audio_streams: flag('--audio-multistreams', '--no-audio-multistreams'),
  check_formats: (value) =>
    value === 'selected' ? ['--check-formats'] : flag('--check-all-formats', '--no-check-formats')(value),
  force_keyframes_at_cuts: flag('--force-keyframes-at-cuts', '--no-force-keyframes-at-cuts'),
  legacyserverconnect: flag('--legacy-server-connect'),
  prefer_insecure: flag('--prefer-insecure'),
  min_views: whole('--min-views', 0, 1e15),
  max_views: whole('--max-views', 0, 1e15),
  dynamic_mpd: flag('--allow-dynamic-mpd', '--ignore-dynamic-mpd'),
  hls_split_discontinuity: flag('--hls-split-discontinuity', '--no-hls-split-discontinuity'),
  outtmpl_na_placeholder: text('--output-na-placeholder', /^[^\p{Cc}/\\]{0,100}$/u),
  writelink: flag('--write-link'),
  writeurllink: flag('--write-url-link'),
  writewebloclink: flag('--write-webloc-link'),
  writedesktoplink: flag('--write-desktop-link'),
  postprocessors: postprocessorArguments,
};

/** What decides whether there is anything to download: a mere look at an address must not come to nothing by it. */
export const forDownloadsAlone: ReadonlySet<string> = new Set([
  ...['download_archive', 'match_filter', 'matchtitle', 'rejecttitle', 'min_filesize', 'max_filesize'],
  ...['min_views', 'max_views'],
]);

/** What concerns the entries of a list, which are downloads of their own once they are known. */
export const forListsAlone: ReadonlySet<string> = new Set(['playliststart', 'playlistend', 'playlist_items']);

/** Leads connections elsewhere, or says what is downloaded at all: not for a request to choose. */
export const rulesOfTheOwner: Readonly<Record<string, Rule>> = {
  proxy: (value) =>
    typeof value === 'string' && /^[\w.-]+:\d{1,5}$/.test(value)
      ? argument('--proxy', `http://${value}`)
      : text('--proxy', /^((https?|socks[45]h?|socks4a|socks5a?):\/\/[^\s\p{Cc}]{1,300})?$/u)(value),
  source_address: text('--source-address', /^[0-9a-f.:]{1,45}$/i),
  download_archive: text('--download-archive', /^[^\p{Cc}]{1,4096}$/u),
  match_filter: (value) =>
    (Array.isArray(value) && value.length <= 20 ? (value as readonly unknown[]) : [value]).reduce<
      readonly string[] | undefined
    >((all, each) => {
      const found = text('--match-filters')(each);
      return all === undefined || found === undefined ? undefined : [...all, ...found];
    }, []),
  matchtitle: text('--match-title'),
  rejecttitle: text('--reject-title'),
};
