const longest = 4096;

/** Sites whose addresses are videos by their look; the extractor knows many more. `path`: what a video's address has. */
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

/** The link when a text is nothing but one, and looks like a video's; undefined else. */
export function videoLink(text: string): string | undefined {
  const trimmed = text.trim();
  if (trimmed.length > longest || !/^https?:\/\/\S+$/i.test(trimmed)) return undefined;
  const url = URL.parse(trimmed);
  // A link with a password in it is nothing to show in a popup.
  if (url === null || url.username !== '' || url.password !== '') return undefined;
  const known = sites.some(({ host, path }) => host.test(url.hostname) && path.test(url.pathname));
  return known || mediaFile.test(url.pathname) ? url.href : undefined;
}
