const maxLinkLength = 4096;

/** Sites whose video links can be recognised; the extractor supports many more. `path`: pattern of a video's path. */
const sites: readonly { readonly host: RegExp; readonly path: RegExp }[] = [
  { host: /(^|\.)youtube(-nocookie)?\.com$/, path: /^\/(watch|shorts\/|live\/|playlist|embed\/)/ },
  { host: /^youtu\.be$/, path: /^\/[\w-]{6,}/ },
  { host: /(^|\.)vimeo\.com$/, path: /\/\d{5,}/ },
  { host: /(^|\.)dailymotion\.com$/, path: /^\/video\// },
  { host: /^dai\.ly$/, path: /^\/\w+/ },
  { host: /(^|\.)twitch\.tv$/, path: /\/(videos\/\d+|clip\/)|^\/\w+$/ },
  { host: /(^|\.)(twitter|x)\.com$/, path: /\/status\/\d+/ },
  { host: /(^|\.)tiktok\.com$/, path: /\/video\/\d+|^\/t\// },
  { host: /(^|\.)instagram\.com$/, path: /^\/(reel|reels|p|tv)\// },
  { host: /(^|\.)facebook\.com$/, path: /^\/(watch|reel)|\/videos\// },
  { host: /^fb\.watch$/, path: /^\/\w+/ },
  { host: /(^|\.)bilibili\.com$/, path: /^\/(video|bangumi)\// },
  { host: /(^|\.)soundcloud\.com$/, path: /^\/[^/]+\/[^/]+/ },
  { host: /\.bandcamp\.com$/, path: /^\/(track|album)\// },
  { host: /(^|\.)reddit\.com$/, path: /\/comments\// },
  { host: /^v\.redd\.it$/, path: /^\/\w+/ },
  { host: /(^|\.)rumble\.com$/, path: /^\/v\w+/ },
  { host: /(^|\.)odysee\.com$/, path: /^\/@[^/]+\/[^/]+/ },
  { host: /(^|\.)ted\.com$/, path: /^\/talks\// },
  { host: /(^|\.)arte\.tv$/, path: /\/videos\// },
];
const mediaFile = /\.(mp4|m4v|webm|mkv|mov|m3u8|mpd|mp3|m4a|ogg|opus|flac)$/i;

/** Returns the link if a text consists of one video link; undefined otherwise. */
export function findVideoLink(text: string): string | undefined {
  const trimmed = text.trim();
  if (trimmed.length > maxLinkLength || !/^https?:\/\/\S+$/i.test(trimmed)) return undefined;
  const url = URL.parse(trimmed);
  // A link with a password must not be shown in a popup.
  if (url === null || url.username !== '' || url.password !== '') return undefined;
  const videoSite = sites.some(({ host, path }) => host.test(url.hostname) && path.test(url.pathname));
  return videoSite || mediaFile.test(url.pathname) ? url.href : undefined;
}
