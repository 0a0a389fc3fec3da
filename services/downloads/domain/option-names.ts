import * as m from '#messages/downloads-problems';

/** Options about the output of yt-dlp, which is parsed here and shown on the page. */
const outputOptions = [
  ...[
    'quiet',
    'no_warnings',
    'verbose',
    'noprogress',
    'progress_with_newline',
    'progress_delta',
    'newline',
    'logtostderr',
  ],
  ...['consoletitle', 'color', 'no_color', 'bidi_workaround', 'encoding', 'call_home', 'debug_printtraffic', 'ticket'],
];

/** Options about behavior that Homeport controls itself. */
const controlledOptions = [
  ...['noplaylist', 'extract_flat', 'ignoreerrors', 'ignore_no_formats_error', 'continuedl', 'nopart', 'overwrites'],
  ...[
    'nooverwrites',
    'force_overwrites',
    'clean_infojson',
    'allow_playlist_files',
    'final_ext',
    'prefer_ffmpeg',
    'fixup',
  ],
  ...['hls_prefer_native', 'lazy_playlist', 'skip_playlist_after_errors', 'wait_for_video', 'break_on_existing'],
  ...['break_on_reject', 'break_per_url', 'force_write_download_archive', 'file_access_retries', 'keepvideo'],
];

/** Options that do not affect a download: they are ignored wherever they are set. */
export const ignoredWithoutEffect: ReadonlyMap<string, () => string> = new Map([
  ...outputOptions.map((name): [string, () => string] => [name, m.outputControlled]),
  ...controlledOptions.map((name): [string, () => string] => [name, m.behaviorControlled]),
]);

/** Reasons why some options of the settings are ignored. All other options are unknown. */
export const ignoredWithReason: ReadonlyMap<string, () => string> = new Map([
  ['external_downloader', m.externalDownloaderUnsafe],
  ['external_downloader_args', m.programsNotStarted],
  ['postprocessor_args', m.argumentsNotForwarded],
  ['ffmpeg_location', m.setFfmpegPath],
  ['cachedir', m.cacheInDataFolder],
  ['cookiesfrombrowser', m.uploadCookies],
  ['username', m.putLoginIntoAddress],
  ['password', m.putLoginIntoAddress],
  ['usenetrc', m.putLoginIntoAddress],
  ['geo_verification_proxy', m.useProxyOption],
]);

/**
 * Options that would run a program or place files outside of the download folder. The user relies on them, so ignoring
 * them is reported.
 */
export const refusedOptions: ReadonlySet<string> = new Set([
  ...['exec', 'exec_cmd', 'exec_before_dl_cmd', 'netrc_cmd', 'paths', 'config_locations', 'plugin_dirs'],
]);
