import * as m from '#messages/downloads-settings';
import * as parts from '#messages/parts';
import * as texts from '#messages/manifests';
import { liveTopic } from '../contracts/control/live.ts';
import { downloadChanged, downloadRemoved, downloadsMoved, downloadsPaused } from '../contracts/downloads/api.ts';
import { downloadLimitsChanged } from '../contracts/downloads/limits.ts';
import { subscriptionChanged, subscriptionRemoved } from '../contracts/downloads/subscriptions.ts';
import { mayRead } from '../contracts/route-access.ts';
import { defineManifest } from '../contracts/service.ts';
import { engines } from './engine/engines.ts';
import { Settings } from './settings.ts';
import { environment } from './settings/environment.ts';
import { migrations } from './migrations.ts';

const readers = mayRead('downloads');

/** Video downloads with the API of MeTube. */
export const manifest = defineManifest({
  id: 'downloads',
  title: texts.downloadsTitle,
  group: 'media',
  summary: texts.downloadsSummary,
  sharedSummary: texts.downloadsSharedSummary,
  listeners: [
    {
      name: 'http',
      title: texts.downloadsTitle,
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
  settingGroups: [
    { heading: m.groupStorage, settings: ['downloadDir'] },
    { heading: m.groupQualityAndFormat, settings: ['quality', 'format', 'subtitles'] },
    { heading: m.groupSpeed, settings: ['mode', 'maxConcurrent'] },
    { heading: m.groupAccess, settings: ['trustLocalPrograms', 'requireSignIn'] },
    {
      heading: m.groupFolders,
      settings: ['tempDir', 'audioDownloadDir', 'customDirs', 'createCustomDirs', 'customDirsExclude', 'indexable'],
    },
    { heading: m.groupFilePermissions, settings: ['umask', 'owner', 'group'] },
    { heading: m.groupAfterADownload, settings: ['deleteFiles', 'clearAfter'] },
    {
      heading: m.groupFileNames,
      settings: ['outputTemplate', 'playlistTemplate', 'channelTemplate', 'chapterTemplate'],
    },
    {
      heading: m.groupPlaylistsAndSubscriptions,
      settings: ['playlistItemLimit', 'subscriptionInterval', 'subscriptionScan'],
    },
    {
      heading: m.groupVideoAudioAndSubtitles,
      settings: ['iosFormat', 'embedSubtitles', 'automaticSubtitles', 'sponsorblockApi', 'sponsorblockCategories'],
    },
    {
      heading: m.groupYtDlpOptions,
      settings: [
        'ytdlOptions',
        'ytdlOptionsFile',
        'ytdlPresets',
        'ytdlPresetsFile',
        'allowOptionsOverrides',
        'keepLoaded',
        'socketTimeout',
        'retries',
      ],
    },
    {
      heading: m.groupAddressesAndEncryption,
      settings: [
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
  ],
  migrations,
  engines,
  grantable: [{ service: 'downloads', title: texts.downloadsTitle, example: '*' }],
  pulse: { counter: 'downloads_finished_total', total: parts.downloadsInDay },
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
