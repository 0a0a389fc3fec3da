import { liveTopic } from '../contracts/control/live.ts';
import { downloadChanged, downloadRemoved, downloadsMoved, downloadsPaused } from '../contracts/downloads/api.ts';
import { downloadLimitsChanged } from '../contracts/downloads/limits.ts';
import { subscriptionChanged, subscriptionRemoved } from '../contracts/downloads/subscriptions.ts';
import { mayRead } from '../contracts/route-access.ts';
import { defineManifest } from '../contracts/service.ts';
import { engines } from './engine/engines.ts';
import { Settings } from './settings.ts';
import { environment } from './settings/environment.ts';
import { migrations } from './store/migrations.ts';

const readers = mayRead('downloads');

/** Video downloads with the API of MeTube. */
export const manifest = defineManifest({
  id: 'downloads',
  title: 'Downloads',
  group: 'media',
  summary: 'Fetches videos and audio with yt-dlp. Works with clients of MeTube.',
  listeners: [
    {
      name: 'http',
      title: 'Downloads',
      protocol: 'http',
      port: 8081,
      // The service decides about origins: its clients are extensions and bookmarklets, see metube-api/cors.ts.
      crossOrigin: 'any',
      tls: ({ https, certFile, keyFile }) => (https ? { certFile, keyFile } : undefined),
    },
  ],
  settings: Settings,
  environment,
  mainSettings: ['enabled', 'downloadDir', 'quality', 'format', 'subtitles', 'mode', 'maxConcurrent', 'requireSignIn'],
  settingGroups: {
    Storage: ['downloadDir'],
    'Quality and format': ['quality', 'format', 'subtitles'],
    Speed: ['mode', 'maxConcurrent'],
    Access: ['trustLocalPrograms', 'requireSignIn'],
    Folders: ['tempDir', 'audioDownloadDir', 'customDirs', 'createCustomDirs', 'customDirsExclude', 'indexable'],
    'File permissions': ['umask', 'owner', 'group'],
    'After a download': ['deleteFiles', 'clearAfter'],
    'File names': ['outputTemplate', 'playlistTemplate', 'channelTemplate', 'chapterTemplate'],
    'Playlists and subscriptions': ['playlistItemLimit', 'subscriptionInterval', 'subscriptionScan'],
    'Video, audio and subtitles': [
      'iosFormat',
      'embedSubtitles',
      'automaticSubtitles',
      'sponsorblockApi',
      'sponsorblockCategories',
    ],
    'yt-dlp options': [
      'ytdlOptions',
      'ytdlOptionsFile',
      'ytdlPresets',
      'ytdlPresetsFile',
      'allowOptionsOverrides',
      'keepLoaded',
      'socketTimeout',
      'retries',
    ],
    'Addresses and encryption': [
      'urlPrefix',
      'publicUrl',
      'publicAudioUrl',
      'robotsFile',
      'https',
      'certFile',
      'keyFile',
      'allowPrivateAddresses',
      'corsAllowedOrigins',
    ],
  },
  migrations,
  engines,
  grantable: [{ service: 'downloads', title: 'Downloads', example: '*' }],
  pulse: { counter: 'downloads_finished_total', what: 'downloads' },
  live: [
    liveTopic(downloadChanged, readers),
    liveTopic(downloadRemoved, readers),
    liveTopic(downloadsMoved, readers),
    liveTopic(downloadsPaused, readers),
    liveTopic(downloadLimitsChanged, readers),
    liveTopic(subscriptionChanged, readers),
    liveTopic(subscriptionRemoved, readers),
  ],
});
