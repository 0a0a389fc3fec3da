import { z } from 'zod';
import { origin } from './values.ts';

/** Settings of access and network addresses. */
export const accessSettings = {
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
  trustLocalPrograms: z
    .boolean()
    .default(true)
    .meta({
      live: true,
      title: 'Trust programs on this computer',
      description:
        'When on, programs on this computer may use this service without signing in, as with MeTube. When ' +
        'off, every request needs an account or token.',
    }),
  requireSignIn: z.boolean().default(false).meta({
    live: true,
    title: 'Require sign-in',
    description: 'Asks every client of this service for an account. Most existing clients cannot sign in.',
  }),
};
