import { z } from 'zod';
import { publicUrl, file } from './values.ts';

/** Settings of the addresses and the listener. */
export const serverSettings = {
  urlPrefix: z
    .string()
    .regex(/^\/?([\w.~-]+\/)*([\w.~-]+)?$/, 'Use a path such as /metube/.')
    .default('/')
    .meta({
      title: 'Path prefix',
      description: 'Path under which the service is served when it runs behind a reverse proxy.',
    }),
  publicUrl: publicUrl.default('').meta({
    title: 'Public file URL',
    description:
      'Base URL of links to finished files when another server serves them, such as ' +
      'https://media.example.org/files. Leave empty to serve them from this service.',
  }),
  publicAudioUrl: publicUrl.default('').meta({
    title: 'Public audio URL',
    description:
      'Base URL of links to finished audio files when another server serves them. Leave empty to serve ' +
      'them from this service.',
  }),
  robotsFile: file.meta({
    live: true,
    title: 'robots.txt file',
    description: 'File served at /robots.txt. Leave empty to ask search engines not to index the downloads.',
  }),
  https: z.boolean().default(false).meta({
    title: 'HTTPS',
    description: 'Accepts HTTPS only, using the certificate below.',
  }),
  certFile: file.meta({
    needs: { https: [true] },
    title: 'Certificate file',
    description: 'PEM file with the certificate, followed by its chain.',
  }),
  keyFile: file.meta({
    needs: { https: [true] },
    title: 'Key file',
    description: 'PEM file with the private key of the certificate.',
  }),
};
