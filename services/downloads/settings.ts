import { z } from 'zod';
import { chapterTemplate, formats, videoQualities } from './domain/order.ts';
import {
  template,
  optionalTemplate,
  expression,
  publicUrl,
  file,
  folder,
  origin,
  language,
  options,
  webAddress,
} from './settings/values.ts';

/** What SponsorBlock tells apart; https://wiki.sponsor.ajay.app/w/Types. */
const segments = [
  'sponsor',
  'selfpromo',
  'interaction',
  'intro',
  'outro',
  'preview',
  'filler',
  'music_offtopic',
  'hook',
] as const;

const qualities = [...videoQualities, '2160p', '1440p', '1080p', '720p', '480p', '360p', '240p', 'audio'];
const allFormats = [...new Set([...formats.video, ...formats.audio])];

/** Section `services.downloads` of the settings. */
export const Settings = z.object({
  downloadDir: folder.default('').meta({
    live: true,
    title: 'Download folder',
    description: 'Where finished files go. Empty: the folder Downloads/homeport in your home folder.',
    folder: true,
  }),
  tempDir: folder.default('').meta({
    title: 'Folder for unfinished files',
    description:
      'Where downloads are kept until they are complete. Empty: a folder of the app. On the same disk as the download folder, finishing takes no copying.',
    folder: true,
  }),
  audioDownloadDir: folder.default('').meta({
    live: true,
    title: 'Download folder for sound',
    description: 'Where audio files go. Empty: the download folder.',
    folder: true,
  }),
  customDirs: z.boolean().default(true).meta({
    live: true,
    title: 'Folders in requests',
    description: 'A request may name a folder below the download folder.',
  }),
  createCustomDirs: z
    .boolean()
    .default(true)
    .meta({
      live: true,
      needs: { customDirs: [true] },
      title: 'Make folders of requests',
      description: 'Off: a request may name only a folder that is there.',
    }),
  customDirsExclude: expression.default('(^|/)[.@].*$').meta({
    live: true,
    emptyIsSet: true,
    title: 'Folders not to offer',
    description:
      'A regular expression in the notation of Python, searched in the path below the download folder. Hidden ones are never offered. Leave empty to offer all others.',
  }),
  indexable: z.boolean().default(false).meta({
    live: true,
    title: 'List finished files',
    description:
      'Whoever reaches the service may see what is in the download folders, as a list of links below /download/.',
  }),
  umask: z
    .string()
    .regex(/^(0?[0-7]{3})?$/, 'Use three octal digits such as 022.')
    .default('')
    .meta({
      live: true,
      title: 'Umask',
      description:
        'Takes rights from new files and folders: 022 lets others read, 077 nobody else. Empty: as the system has it.',
    }),
  owner: z.int().min(0).max(4_294_967_294).nullable().default(null).meta({
    live: true,
    title: 'Owner of files',
    description: 'Number of the user that files are given to. Only where Homeport runs as root.',
  }),
  group: z.int().min(0).max(4_294_967_294).nullable().default(null).meta({
    live: true,
    title: 'Group of files',
    description: 'Number of the group that files are given to. Only where Homeport runs as root.',
  }),
  deleteFiles: z.boolean().default(false).meta({
    live: true,
    title: 'Delete files of forgotten downloads',
    description: 'A client that removes a finished download removes its files as well.',
  }),
  clearAfter: z.int().min(0).max(31_536_000).default(0).meta({
    live: true,
    unit: 'seconds',
    title: 'Forget what has ended after',
    description: 'Then a finished or failed download leaves the history; its files stay. 0: never.',
  }),
  urlPrefix: z
    .string()
    .regex(/^\/?([\w.~-]+\/)*([\w.~-]+)?$/, 'Use a path such as /metube/.')
    .default('/')
    .meta({
      title: 'Path prefix',
      description: 'Below which path of its address the service answers, where another server stands before it.',
    }),
  publicUrl: publicUrl.default('').meta({
    title: 'Public address of files',
    description:
      'Where links to finished files lead, when another server hands them out: https://media.example.org/files. Empty: the service itself.',
  }),
  publicAudioUrl: publicUrl.default('').meta({
    title: 'Public address of sound',
    description: 'The same for sound. Empty: the service itself.',
  }),
  robotsFile: file.meta({
    live: true,
    title: 'File for robots.txt',
    description: 'Answered at /robots.txt. Empty: search engines are asked to stay out of the downloads.',
  }),
  https: z.boolean().default(false).meta({
    title: 'HTTPS',
    description: 'Answers by TLS alone, with the certificate below.',
  }),
  certFile: file.meta({
    needs: { https: [true] },
    title: 'Certificate file',
    description: 'In PEM, with the chain behind it.',
  }),
  keyFile: file.meta({ needs: { https: [true] }, title: 'Key file', description: 'Of the certificate, in PEM.' }),
  mode: z
    .enum(['sequential', 'concurrent'])
    .default('sequential')
    .meta({
      live: true,
      title: 'Download mode',
      description: 'Whether each waits for the one before it.',
      choices: { sequential: 'One after another', concurrent: 'Several at once' },
    }),
  maxConcurrent: z
    .int()
    .min(1)
    .max(100)
    .default(3)
    .meta({
      live: true,
      needs: { mode: ['concurrent'] },
      title: 'Downloads at once',
      description:
        'Counts only in the mode “Several at once”: how many run at the same time. Converting a finished file counts too.',
    }),
  quality: z
    .enum(qualities)
    .default('best')
    .meta({
      live: true,
      title: 'Quality',
      description:
        'For links from extensions, apps and scripts that name no quality. 1080p means at most 1080p: if there is only less, that is taken.',
      choices: {
        ...{ best: 'Best', '2160p': '2160p (4K)', '1440p': '1440p', '1080p': '1080p', '720p': '720p', '480p': '480p' },
        ...{ '360p': '360p', '240p': '240p', worst: 'Smallest file', audio: 'Sound only' },
      },
    }),
  format: z
    .enum(allFormats)
    .default('mp4')
    .meta({
      live: true,
      title: 'Format',
      description: 'For links from extensions, apps and scripts that name no format.',
      choices: {
        ...{
          any: 'As the site has it',
          mp4: 'MP4',
          ios: 'MP4 for Apple devices',
          webm: 'WebM',
          mkv: 'MKV',
          avi: 'AVI',
        },
        ...{ m4a: 'M4A, sound only', mp3: 'MP3', opus: 'Opus', ogg: 'Ogg', flac: 'FLAC', wav: 'WAV' },
      },
    }),
  outputTemplate: template.default('%(title).180B.%(ext)s').meta({
    live: true,
    title: 'File name',
    description: 'Template of the file name in the notation of yt-dlp, relative to the download folder.',
  }),
  playlistTemplate: optionalTemplate.default('%(playlist_title)s/%(title).180B.%(ext)s').meta({
    live: true,
    emptyIsSet: true,
    title: 'File name in playlists',
    description: 'The same for entries of playlists. Leave empty to name them as any other file.',
  }),
  channelTemplate: optionalTemplate.default('%(channel)s/%(title).180B.%(ext)s').meta({
    live: true,
    emptyIsSet: true,
    title: 'File name in channels',
    description: 'The same for what comes from a channel. Leave empty to name it as any other file.',
  }),
  playlistItemLimit: z.int().min(0).max(1_000_000).default(0).meta({
    live: true,
    title: 'Most videos of a playlist',
    description: 'Used where a request names no number of its own. 0: all.',
  }),
  subscriptionInterval: z.int().min(1).max(44_640).default(60).meta({
    live: true,
    unit: 'minutes',
    title: 'Check subscriptions every',
    description: 'How often a channel, playlist or feed is looked at, where it names no time of its own.',
  }),
  subscriptionScan: z.int().min(1).max(5000).default(50).meta({
    live: true,
    title: 'Entries of a subscription to look at',
    description: 'How far from its beginning a channel, playlist or feed is searched for new videos.',
  }),
  chapterTemplate: template.default(chapterTemplate).meta({
    live: true,
    title: 'File name of chapters',
    description: 'The same for the files of chapters, where a download is split into them.',
  }),
  iosFormat: z.boolean().default(false).meta({
    live: true,
    title: 'Files for Apple devices',
    description:
      'Where a request names no format: MP4 with H.264 or HEVC and AAC, converted where a site has nothing of the kind.',
  }),
  subtitles: z
    .array(language.meta({ example: 'en' }))
    .max(50)
    .default([])
    .meta({
      live: true,
      title: 'Subtitles',
      description: 'Languages whose subtitles come with a video. A language that a video lacks is passed over.',
    }),
  embedSubtitles: z.boolean().default(false).meta({
    live: true,
    title: 'Subtitles inside the video',
    description: 'Off: as .srt files beside it. AVI has no room for any, so there they are always files.',
  }),
  automaticSubtitles: z.boolean().default(false).meta({
    live: true,
    title: 'Automatic subtitles too',
    description: 'What a machine has written is taken where nobody else has.',
  }),
  sponsorblockApi: webAddress.default('https://sponsor.ajay.app').meta({
    live: true,
    title: 'SponsorBlock server',
    description:
      'Asked for advertising in a video where a request wants it left out. It learns the beginning of a hash.',
  }),
  sponsorblockCategories: z
    .array(z.enum(segments))
    .default(['sponsor', 'selfpromo', 'interaction'])
    .meta({
      live: true,
      title: 'What SponsorBlock leaves out',
      description: 'Cut out where a request wants it.',
      choices: {
        ...{ sponsor: 'Sponsors', selfpromo: 'Unpaid promotion of their own', interaction: 'Asking to subscribe' },
        ...{
          intro: 'Opening',
          outro: 'Credits and end cards',
          preview: 'Preview or recap',
          filler: 'Tangents and jokes',
        },
        ...{ music_offtopic: 'What is no music, in music videos', hook: 'Hook and greetings' },
      },
    }),
  ytdlOptions: options.default({}).meta({
    live: true,
    title: 'Options of yt-dlp',
    description:
      'For every download, by the names of its Python interface, such as {"ratelimit": 2000000, "geo_bypass_country": "DE"}. What runs programs, names folders or is not understood is left out, and named in the log and on Home.',
  }),
  ytdlOptionsFile: file.meta({
    live: true,
    title: 'File with options of yt-dlp',
    description: 'A JSON file with more of them, which win over those above. A change of it takes effect at once.',
  }),
  ytdlPresets: z.record(z.string().min(1).max(100), options).default({}).meta({
    live: true,
    title: 'Presets',
    description: 'Sets of such options by name, for requests to choose from: {"slow": {"ratelimit": "500K"}}.',
  }),
  ytdlPresetsFile: file.meta({
    live: true,
    title: 'File with presets',
    description: 'A JSON file with more of them, which win over those above. A change of it takes effect at once.',
  }),
  allowOptionsOverrides: z.boolean().default(false).meta({
    live: true,
    title: 'Options in requests',
    description: 'Whoever may add downloads may set options of yt-dlp for them, but for a proxy.',
  }),
  allowPrivateAddresses: z.boolean().default(false).meta({
    live: true,
    title: 'Allow private addresses',
    description: 'Downloads from this machine and the home network. Off: such addresses are refused.',
  }),
  corsAllowedOrigins: z.array(origin).default(['chrome-extension://*', 'moz-extension://*']).meta({
    live: true,
    title: 'Web origins that may add downloads',
    description: 'For browser extensions and bookmarklets. A star stands for anything; * alone lets every page in.',
  }),
  trustLocalPrograms: z.boolean().default(true).meta({
    live: true,
    title: 'Trust programs on this computer',
    description:
      'When on, programs on this computer may use this service without signing in, as with MeTube. When off, every request needs an account or token.',
  }),
  requireSignIn: z.boolean().default(false).meta({
    live: true,
    title: 'Require sign-in',
    description: 'Asks every client of this service for an account. Most existing clients cannot sign in.',
  }),
  keepLoaded: z.boolean().default(true).meta({
    live: true,
    title: 'Keep yt-dlp loaded',
    description:
      'Starts downloads several times as fast, for about 50 MB of memory while there are any. Where Python cannot import yt-dlp, each download starts it anew.',
  }),
  socketTimeout: z.int().min(1).max(600).default(30).meta({
    live: true,
    unit: 'seconds',
    title: 'Patience with silent servers',
    description: 'A connection on which no byte arrives for this time is given up.',
  }),
  retries: z.int().min(0).max(100).default(10).meta({
    live: true,
    title: 'Retries',
    description: 'How often a broken transfer is continued before the download fails.',
  }),
});
export type Settings = z.infer<typeof Settings>;

/** Environment name -> field; the names are the peer's and the specification's. */
export const environment: Readonly<Record<string, keyof Settings>> = {
  DOWNLOAD_DIR: 'downloadDir',
  TEMP_DIR: 'tempDir',
  AUDIO_DOWNLOAD_DIR: 'audioDownloadDir',
  CUSTOM_DIRS: 'customDirs',
  CREATE_CUSTOM_DIRS: 'createCustomDirs',
  CUSTOM_DIRS_EXCLUDE_REGEX: 'customDirsExclude',
  DOWNLOAD_DIRS_INDEXABLE: 'indexable',
  UMASK: 'umask',
  PUID: 'owner',
  PGID: 'group',
  UID: 'owner',
  GID: 'group',
  DELETE_FILE_ON_TRASHCAN: 'deleteFiles',
  CLEAR_COMPLETED_AFTER: 'clearAfter',
  URL_PREFIX: 'urlPrefix',
  PUBLIC_HOST_URL: 'publicUrl',
  PUBLIC_HOST_AUDIO_URL: 'publicAudioUrl',
  ROBOTS_TXT: 'robotsFile',
  HTTPS: 'https',
  CERTFILE: 'certFile',
  KEYFILE: 'keyFile',
  DOWNLOAD_MODE: 'mode',
  MAX_CONCURRENT_DOWNLOADS: 'maxConcurrent',
  QUALITY: 'quality',
  FORMAT: 'format',
  OUTPUT_TEMPLATE: 'outputTemplate',
  OUTPUT_TEMPLATE_PLAYLIST: 'playlistTemplate',
  OUTPUT_TEMPLATE_CHANNEL: 'channelTemplate',
  DEFAULT_OPTION_PLAYLIST_ITEM_LIMIT: 'playlistItemLimit',
  SUBSCRIPTION_DEFAULT_CHECK_INTERVAL: 'subscriptionInterval',
  SUBSCRIPTION_SCAN_PLAYLIST_END: 'subscriptionScan',
  OUTPUT_TEMPLATE_CHAPTER: 'chapterTemplate',
  ENABLE_IOS_FORMAT: 'iosFormat',
  SUBTITLES: 'subtitles',
  SUBTITLE_EMBED: 'embedSubtitles',
  YTDL_OPTIONS: 'ytdlOptions',
  YTDL_OPTIONS_FILE: 'ytdlOptionsFile',
  YTDL_OPTIONS_PRESETS: 'ytdlPresets',
  YTDL_OPTIONS_PRESETS_FILE: 'ytdlPresetsFile',
  ALLOW_YTDL_OPTIONS_OVERRIDES: 'allowOptionsOverrides',
  ALLOW_PRIVATE_ADDRESSES: 'allowPrivateAddresses',
  CORS_ALLOWED_ORIGINS: 'corsAllowedOrigins',
};

/** The path below which the service answers, with a slash at both ends. */
export function prefixOf({ urlPrefix }: Pick<Settings, 'urlPrefix'>): string {
  return `/${urlPrefix.replaceAll(/^\/+|\/+$/g, '')}/`.replace('//', '/');
}

/** Where links to finished files lead, with a slash at the end: a web address, or a path below the service's own. */
export function publicBases({ publicUrl, publicAudioUrl }: Pick<Settings, 'publicUrl' | 'publicAudioUrl'>): {
  readonly download: string;
  readonly audio: string;
} {
  const closed = (base: string): string => (base.endsWith('/') ? base : `${base}/`);
  return { download: closed(publicUrl || 'download'), audio: closed(publicAudioUrl || 'audio_download') };
}
