import * as m from '#messages/downloads-settings';
import { z } from 'zod';
import { pathSetting } from '../../kit/platform/path-setting.ts';
import { expression } from './values.ts';

/** Settings of folders, files and retention. */
export const storageSettings = {
  downloadDir: pathSetting.default('').meta({
    live: true,
    label: m.downloadDir,
    help: m.downloadDirHelp,
    folder: true,
  }),
  tempDir: pathSetting.default('').meta({
    label: m.tempDir,
    help: m.tempDirHelp,
    folder: true,
  }),
  audioDownloadDir: pathSetting.default('').meta({
    live: true,
    label: m.audioDownloadDir,
    help: m.audioDownloadDirHelp,
    folder: true,
  }),
  customDirs: z.boolean().default(true).meta({
    live: true,
    label: m.customDirs,
    help: m.customDirsHelp,
  }),
  createCustomDirs: z
    .boolean()
    .default(true)
    .meta({
      live: true,
      needs: { customDirs: [true] },
      label: m.createCustomDirs,
      help: m.createCustomDirsHelp,
    }),
  customDirsExclude: expression.default('(^|/)[.@].*$').meta({
    live: true,
    emptyIsSet: true,
    label: m.customDirsExclude,
    help: m.customDirsExcludeHelp,
  }),
  indexable: z.boolean().default(false).meta({
    live: true,
    label: m.indexable,
    help: m.indexableHelp,
  }),
  umask: z
    .string()
    .regex(/^(0?[0-7]{3})?$/, { error: m.umaskInvalid })
    .default('')
    .meta({
      live: true,
      label: m.umask,
      help: m.umaskHelp,
    }),
  owner: z.int().min(0).max(4_294_967_294).nullable().default(null).meta({
    live: true,
    label: m.owner,
    help: m.ownerHelp,
  }),
  group: z.int().min(0).max(4_294_967_294).nullable().default(null).meta({
    live: true,
    label: m.group,
    help: m.groupHelp,
  }),
  deleteFiles: z.boolean().default(false).meta({
    live: true,
    label: m.deleteFiles,
    help: m.deleteFilesHelp,
  }),
  clearAfter: z.int().min(0).max(31_536_000).default(0).meta({
    live: true,
    unit: 'seconds',
    label: m.clearAfter,
    help: m.clearAfterHelp,
  }),
};
