import { z } from 'zod';
import { pathSetting } from '../../kit/platform/path-setting.ts';
import { expression } from './values.ts';

/** Settings of folders, files and retention. */
export const storageSettings = {
  downloadDir: pathSetting.default('').meta({
    live: true,
    title: 'Download folder',
    description: 'Folder for finished files. Leave empty to use Downloads/homeport in your home folder.',
    folder: true,
  }),
  tempDir: pathSetting.default('').meta({
    title: 'Temporary folder',
    description:
      'Folder for unfinished downloads. Leave empty to use a folder in the data folder. On the same disk ' +
      'as the download folder, finished files are moved without copying.',
    folder: true,
  }),
  audioDownloadDir: pathSetting.default('').meta({
    live: true,
    title: 'Audio download folder',
    description: 'Folder for finished audio files. Leave empty to use the download folder.',
    folder: true,
  }),
  customDirs: z.boolean().default(true).meta({
    live: true,
    title: 'Custom folders',
    description: 'Allows requests to select a folder inside the download folder.',
  }),
  createCustomDirs: z
    .boolean()
    .default(true)
    .meta({
      live: true,
      needs: { customDirs: [true] },
      title: 'Create custom folders',
      description:
        'Creates the folder of a request if it does not exist. When off, requests can only use existing folders.',
    }),
  customDirsExclude: expression.default('(^|/)[.@].*$').meta({
    live: true,
    emptyIsSet: true,
    title: 'Excluded folders',
    description:
      'Python regular expression for folders that are not offered, searched in the path relative to the ' +
      'download folder. Leave empty to offer all folders. Hidden folders are never offered.',
  }),
  indexable: z.boolean().default(false).meta({
    live: true,
    title: 'List finished files',
    description: 'Lists the files of the download folders under /download/ for everyone who can reach the service.',
  }),
  umask: z
    .string()
    .regex(/^(0?[0-7]{3})?$/, 'Use three octal digits such as 022.')
    .default('')
    .meta({
      live: true,
      title: 'Umask',
      description:
        'File mode mask for new files and folders: 022 allows others to read them, 077 does not. Leave ' +
        'empty to use the system default.',
    }),
  owner: z.int().min(0).max(4_294_967_294).nullable().default(null).meta({
    live: true,
    title: 'File owner (UID)',
    description: 'ID of the user that owns new files. Requires Homeport to run as root.',
  }),
  group: z.int().min(0).max(4_294_967_294).nullable().default(null).meta({
    live: true,
    title: 'File group (GID)',
    description: 'ID of the group that owns new files. Requires Homeport to run as root.',
  }),
  deleteFiles: z.boolean().default(false).meta({
    live: true,
    title: 'Delete files of removed downloads',
    description: 'Deletes the files when a client removes a finished download from the list.',
  }),
  clearAfter: z
    .int()
    .min(0)
    .max(31_536_000)
    .default(0)
    .meta({
      live: true,
      unit: 'seconds',
      title: 'Remove finished downloads after',
      description:
        'Removes finished and failed downloads from the history after this time; files are kept. Set to 0 ' +
        'to keep them in the history.',
    }),
};
