import { z } from 'zod';
import { origin } from './values.ts';

/** Settings of access and network addresses. */
export const accessSettings = {
  allowPrivateAddresses: z.boolean().default(false).meta({
    live: true,
    title: 'Allow private addresses',
    description: 'Allows downloads from this computer and private networks. When off, such addresses are refused.',
  }),
  corsAllowedOrigins: z
    .array(origin)
    .default(['chrome-extension://*', 'moz-extension://*'])
    .meta({
      live: true,
      title: 'Allowed web origins',
      description:
        'Web pages and browser extensions that may add downloads. Use * as a wildcard; a single * allows ' +
        'every origin.',
    }),
  trustLocalPrograms: z
    .boolean()
    .default(true)
    .meta({
      live: true,
      title: 'Trust programs on this computer',
      description:
        'Programs on this computer can use this service without signing in, as with MeTube. When off, ' +
        'every request needs an account or a token.',
    }),
  requireSignIn: z.boolean().default(false).meta({
    live: true,
    title: 'Require sign-in',
    description: 'Every client must sign in with an account. Most existing MeTube clients cannot sign in.',
  }),
};
