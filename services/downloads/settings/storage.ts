import { z } from 'zod';
import { expression, folder } from './values.ts';

/** Settings of folders, files and retention. */
export const storageSettings = {
  downloadDir: folder.default('').meta({
    live: true,
    title: 'Download folder',
    description: 'Where finished files go. Empty: the folder Downloads/homeport in your home folder.',
    folder: true,
  }),
  tempDir: folder.default('').meta({
    title: 'Folder for unfinished files',
    description:
      'Where downloads are kept until they are complete. Empty: a folder of the app. On the same disk as ' +
      'the download folder, finishing takes no copying.',
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
      'A regular expression in the notation of Python, searched in the path below the download folder. ' +
      'Hidden ones are never offered. Leave empty to offer all others.',
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
};
