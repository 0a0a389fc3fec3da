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
};
