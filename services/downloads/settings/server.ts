import * as m from '#messages/downloads-settings';
import { z } from 'zod';
import { publicUrl, file } from './values.ts';

/** Settings of the addresses and the listener. */
export const serverSettings = {
  urlPrefix: z
    .string()
    .regex(/^\/?([\w.~-]+\/)*([\w.~-]+)?$/, { error: m.urlPrefixInvalid })
    .default('/')
    .meta({
      label: m.urlPrefix,
      help: m.urlPrefixHelp,
    }),
  publicUrl: publicUrl.default('').meta({
    label: m.publicUrl,
    help: m.publicUrlHelp,
  }),
  publicAudioUrl: publicUrl.default('').meta({
    label: m.publicAudioUrl,
    help: m.publicAudioUrlHelp,
  }),
  robotsFile: file.meta({
    live: true,
    label: m.robotsFile,
    help: m.robotsFileHelp,
  }),
  https: z.boolean().default(false).meta({
    label: m.https,
    help: m.httpsHelp,
  }),
  certFile: file.meta({
    needs: { https: [true] },
    label: m.certFile,
    help: m.certFileHelp,
  }),
  keyFile: file.meta({
    needs: { https: [true] },
    label: m.keyFile,
    help: m.keyFileHelp,
  }),
};
