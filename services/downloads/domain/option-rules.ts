import { buildPostprocessorArguments } from './postprocessors.ts';
import { isRecord } from '../../contracts/is-record.ts';

/** Converts a value into arguments; undefined when the value is not allowed. */
export type Rule = (value: unknown) => readonly string[] | undefined;

/** Builds an argument that includes its value, so that the value cannot be read as another option. */
function buildArgument(name: string, value: string | number): readonly string[] {
  return [`${name}=${value}`];
}

function flagRule(on: string, off?: string): Rule {
  return (value) => (value === true ? [on] : value === false ? (off === undefined ? [] : [off]) : undefined);
}

function numberRule(name: string, min: number, max: number): Rule {
  return (value) => {
    const numeric = typeof value === 'string' && /^\d+(\.\d+)?$/.test(value) ? Number(value) : value;
    const isValid = typeof numeric === 'number' && numeric >= min && numeric <= max;
    return isValid ? buildArgument(name, numeric) : undefined;
  };
}

function integerRule(name: string, min: number, max: number): Rule {
  const rule = numberRule(name, min, max);
  return (value) => (Number.isInteger(Number(value)) ? rule(value) : undefined);
}

/** Accepts a number of bytes, also as `500K` or `4.2M`. */
function bytesRule(name: string): Rule {
  return (value) => {
    const textRule = typeof value === 'number' && value > 0 ? String(Math.round(value)) : value;
    return typeof textRule === 'string' && /^\d+(\.\d+)?[KMGTPEZY]?$/i.test(textRule)
      ? buildArgument(name, textRule)
      : undefined;
  };
}

/** Accepts a number of attempts, or `infinite`. */
function attemptsRule(name: string): Rule {
  const rule = integerRule(name, 0, 1_000_000);
  return (value) => (value === 'inf' || value === 'infinite' ? buildArgument(name, 'infinite') : rule(value));
}

/** Accepts one line of text that matches the pattern. */
function textRule(name: string, pattern = /^[^\p{Cc}]{1,2000}$/u): Rule {
  return (value) =>
    typeof value === 'string' && pattern.test(value) && value !== '-' ? buildArgument(name, value) : undefined;
}

/** Accepts a list, or a text with commas. */
function listRule(name: string, each: RegExp): Rule {
  return (value) => {
    const parts: unknown = typeof value === 'string' ? value.split(',').map((part) => part.trim()) : value;
    const isValid = Array.isArray(parts) && parts.length > 0 && parts.length <= 200;
    if (!isValid || !parts.every((part) => typeof part === 'string' && each.test(part))) return undefined;
    return buildArgument(name, parts.join(','));
  };
}

const headers: Rule = (value) => {
  const entries = findEntries(value);
  const isValid = entries?.every(
    ([name, content]) =>
      /^[A-Za-z0-9-]{1,64}$/.test(name) && typeof content === 'string' && /^[^\p{Cc}]{1,1000}$/u.test(content),
  );
  return isValid === true ? entries?.map(([name, content]) => `--add-headers=${name}:${String(content)}`) : undefined;
};

/** Accepts `{"youtube": {"player_client": ["web", "ios"]}}`. */
const extractorArguments: Rule = (value) => {
  const args: string[] = [];
  for (const [extractor, content] of findEntries(value) ?? [['', undefined]]) {
    const pairs = findEntries(content)?.map(([key, option]) => ({
      key,
      values: Array.isArray(option) ? option : [option],
    }));
    const isValid = pairs?.every(
      ({ key, values }) =>
        /^[a-z0-9_-]{1,64}$/i.test(key) &&
        values.every((each) => /^[^;\p{Cc}]{1,2000}$/u.test(String(each)) && typeof each !== 'object'),
    );
    if (isValid !== true || pairs === undefined || !/^[a-z0-9_+-]{1,64}$/i.test(extractor)) return undefined;
    const keyValues = pairs
      .map(({ key, values }) => `${key}=${values.map((each) => String(each).replaceAll(',', '\\,')).join(',')}`)
      .join(';');
    args.push(`--extractor-args=${extractor}:${keyValues}`);
  }
  return args;
};

export function findEntries(value: unknown): readonly [string, unknown][] | undefined {
  return isRecord(value) ? Object.entries(value) : undefined;
}

const secondsPerDay = 24 * 3600;
const segmentPattern = /^-?(sponsor|selfpromo|interaction|intro|outro|preview|filler|music_offtopic|hook|all|default)$/;
const markedSegmentPattern = new RegExp(segmentPattern.source.replace('hook', 'hook|poi_highlight|chapter'));
/** Pattern of a range in yt-dlp's `--playlist-items`. */
const rangePattern = '(?:[+-]?\\d+)?(?:[:-](?:[+-]?\\d+|inf(?:inite)?)?(?::[+-]?\\d+)?)?';

/**
 * Allowed options for fetching and format selection. None of them names a program, a folder or a file, reads another
 * configuration, or changes what the service relies on.
 */
export const rules: Readonly<Record<string, Rule>> = {
  format: textRule('--format'),
  format_sort: listRule('--format-sort', /^\+?[A-Za-z0-9_]+([:~][^,\p{Cc}]*)?$/u),
  format_sort_force: flagRule('--format-sort-force', '--no-format-sort-force'),
  prefer_free_formats: flagRule('--prefer-free-formats', '--no-prefer-free-formats'),
  merge_output_format: textRule('--merge-output-format', /^(mp4|mkv|webm|mov|avi|flv)(\/(mp4|mkv|webm|mov|avi|flv))*$/),
  ratelimit: bytesRule('--limit-rate'),
  throttledratelimit: bytesRule('--throttled-rate'),
  concurrent_fragment_downloads: integerRule('--concurrent-fragments', 1, 256),
  http_chunk_size: bytesRule('--http-chunk-size'),
  buffersize: bytesRule('--buffer-size'),
  retries: attemptsRule('--retries'),
  fragment_retries: attemptsRule('--fragment-retries'),
  extractor_retries: attemptsRule('--extractor-retries'),
  socket_timeout: numberRule('--socket-timeout', 0.1, 3600),
  sleep_interval: numberRule('--sleep-interval', 0, secondsPerDay),
  max_sleep_interval: numberRule('--max-sleep-interval', 0, secondsPerDay),
  sleep_interval_requests: numberRule('--sleep-requests', 0, secondsPerDay),
  sleep_interval_subtitles: numberRule('--sleep-subtitles', 0, secondsPerDay),
  min_filesize: bytesRule('--min-filesize'),
  max_filesize: bytesRule('--max-filesize'),
  skip_unavailable_fragments: flagRule('--skip-unavailable-fragments', '--abort-on-unavailable-fragments'),
  hls_use_mpegts: flagRule('--hls-use-mpegts', '--no-hls-use-mpegts'),
  live_from_start: flagRule('--live-from-start', '--no-live-from-start'),
  geo_bypass_country: textRule('--xff', /^[A-Za-z]{2}$/),
  geo_bypass_ip_block: textRule('--xff', /^\d{1,3}(\.\d{1,3}){3}\/\d{1,2}$/),
  geo_bypass: flagRule('--xff=default', '--xff=never'),
  nocheckcertificate: flagRule('--no-check-certificates'),
  impersonate: textRule('--impersonate', /^[a-z0-9._:-]{0,64}$/i),
  http_headers: headers,
  user_agent: (value) => headers({ 'User-Agent': value }),
  referer: (value) => headers({ Referer: value }),
  extractor_args: extractorArguments,
  age_limit: integerRule('--age-limit', 0, 99),
  writesubtitles: flagRule('--write-subs', '--no-write-subs'),
  writeautomaticsub: flagRule('--write-auto-subs', '--no-write-auto-subs'),
  embedsubtitles: flagRule('--embed-subs', '--no-embed-subs'),
  subtitleslangs: listRule('--sub-langs', /^-?[\w.*+?^$|()[\]{}\\-]{1,100}$/),
  subtitlesformat: textRule('--sub-format', /^[\w-]+(\/[\w-]+)*$/),
  writethumbnail: flagRule('--write-thumbnail', '--no-write-thumbnail'),
  embedthumbnail: flagRule('--embed-thumbnail', '--no-embed-thumbnail'),
  addmetadata: flagRule('--embed-metadata', '--no-embed-metadata'),
  addchapters: flagRule('--embed-chapters', '--no-embed-chapters'),
  writedescription: flagRule('--write-description', '--no-write-description'),
  updatetime: flagRule('--mtime', '--no-mtime'),
  restrictfilenames: flagRule('--restrict-filenames', '--no-restrict-filenames'),
  windowsfilenames: flagRule('--windows-filenames', '--no-windows-filenames'),
  sponsorblock_mark: listRule('--sponsorblock-mark', markedSegmentPattern),
  sponsorblock_remove: listRule('--sponsorblock-remove', segmentPattern),
  writeinfojson: flagRule('--write-info-json', '--no-write-info-json'),
  getcomments: flagRule('--write-comments', '--no-write-comments'),
  write_all_thumbnails: flagRule('--write-all-thumbnails'),
  allsubtitles: flagRule('--sub-langs=all'),
  trim_file_name: integerRule('--trim-filenames', 0, 1000),
  playliststart: integerRule('--playlist-start', 1, 1_000_000),
  playlistend: integerRule('--playlist-end', 1, 1_000_000),
  playlist_items: textRule('--playlist-items', new RegExp(`^${rangePattern}(?:,${rangePattern})*$`)),
  allow_multiple_video_streams: flagRule('--video-multistreams', '--no-video-multistreams'),
  allow_multiple_audio_streams: flagRule('--audio-multistreams', '--no-audio-multistreams'),
  check_formats: (value) =>
    value === 'selected' ? ['--check-formats'] : flagRule('--check-all-formats', '--no-check-formats')(value),
  force_keyframes_at_cuts: flagRule('--force-keyframes-at-cuts', '--no-force-keyframes-at-cuts'),
  legacyserverconnect: flagRule('--legacy-server-connect'),
  prefer_insecure: flagRule('--prefer-insecure'),
  min_views: integerRule('--min-views', 0, 1e15),
  max_views: integerRule('--max-views', 0, 1e15),
  dynamic_mpd: flagRule('--allow-dynamic-mpd', '--ignore-dynamic-mpd'),
  hls_split_discontinuity: flagRule('--hls-split-discontinuity', '--no-hls-split-discontinuity'),
  outtmpl_na_placeholder: textRule('--output-na-placeholder', /^[^\p{Cc}/\\]{0,100}$/u),
  writelink: flagRule('--write-link'),
  writeurllink: flagRule('--write-url-link'),
  writewebloclink: flagRule('--write-webloc-link'),
  writedesktoplink: flagRule('--write-desktop-link'),
  postprocessors: buildPostprocessorArguments,
};

/** Options that decide whether anything is downloaded. They are not used for a probe, which would find nothing. */
export const downloadOnlyOptions: ReadonlySet<string> = new Set([
  ...['download_archive', 'match_filter', 'matchtitle', 'rejecttitle', 'min_filesize', 'max_filesize'],
  ...['min_views', 'max_views'],
]);

/** Options that select entries of a list; each entry becomes a separate download. */
export const listOnlyOptions: ReadonlySet<string> = new Set(['playliststart', 'playlistend', 'playlist_items']);

/** Options that redirect connections or select downloads. They are allowed in the settings, but not in requests. */
export const settingsOnlyRules: Readonly<Record<string, Rule>> = {
  proxy: (value) =>
    typeof value === 'string' && /^[\w.-]+:\d{1,5}$/.test(value)
      ? buildArgument('--proxy', `http://${value}`)
      : textRule('--proxy', /^((https?|socks[45]h?|socks4a|socks5a?):\/\/[^\s\p{Cc}]{1,300})?$/u)(value),
  source_address: textRule('--source-address', /^[0-9a-f.:]{1,45}$/i),
  download_archive: textRule('--download-archive', /^[^\p{Cc}]{1,4096}$/u),
  match_filter: (value) =>
    (Array.isArray(value) && value.length <= 20 ? (value as readonly unknown[]) : [value]).reduce<
      readonly string[] | undefined
    >((all, each) => {
      const parsed = textRule('--match-filters')(each);
      return all === undefined || parsed === undefined ? undefined : [...all, ...parsed];
    }, []),
  matchtitle: textRule('--match-title'),
  rejecttitle: textRule('--reject-title'),
};
