/** What yt-dlp says, and how: it is read here and shown on the page. */
const said = [
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

/** What is done here in any case, in our own way. */
const done = [
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

/** Options without which a download is what it is with them: they are left out wherever they come from. */
export const harmless: ReadonlyMap<string, string> = new Map([
  ...said.map((name): [string, string] => [name, 'what yt-dlp says is read and shown by Homeport']),
  ...done.map((name): [string, string] => [name, 'Homeport does this in its own way']),
]);

/** Why some others of the owner's are left out. The rest is no option that is known here. */
export const notTaken: ReadonlyMap<string, string> = new Map([
  ['external_downloader', 'other programs are not started: they would reach addresses that nobody has looked at'],
  ['external_downloader_args', 'other programs are not started'],
  ['postprocessor_args', 'arguments of other programs are not passed on'],
  ['ffmpeg_location', 'set FFMPEG_PATH'],
  ['cachedir', 'the cache is in the data folder'],
  ['cookiesfrombrowser', 'upload a cookies.txt on the page Cookies'],
  ['username', 'put it into the address: https://name:password@…'],
  ['password', 'put it into the address: https://name:password@…'],
  ['usenetrc', 'put the login into the address: https://name:password@…'],
  ['geo_verification_proxy', 'only one proxy is used: proxy'],
]);

/** What would run a program, or lead files out of the download folder: whoever wrote it counts on it, so it is not left out in silence. */
export const refused: ReadonlySet<string> = new Set([
  ...['exec', 'exec_cmd', 'exec_before_dl_cmd', 'netrc_cmd', 'paths', 'config_locations', 'plugin_dirs'],
]);
