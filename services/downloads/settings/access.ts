import * as m from '#messages/downloads-settings';
import { z } from 'zod';
import { origin } from './values.ts';

/** Settings of access and network addresses. */
export const accessSettings = {
  allowPrivateAddresses: z.boolean().default(false).meta({
    live: true,
    label: m.allowPrivateAddresses,
    help: m.allowPrivateAddressesHelp,
  }),
  corsAllowedOrigins: z.array(origin).default(['chrome-extension://*', 'moz-extension://*']).meta({
    live: true,
    label: m.corsAllowedOrigins,
    help: m.corsAllowedOriginsHelp,
  }),
  trustLocalPrograms: z.boolean().default(true).meta({
    live: true,
    label: m.trustLocalPrograms,
    help: m.trustLocalProgramsHelp,
  }),
  requireSignIn: z.boolean().default(false).meta({
    live: true,
    label: m.requireSignIn,
    help: m.requireSignInHelp,
  }),
};
