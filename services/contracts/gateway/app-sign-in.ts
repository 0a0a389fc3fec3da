import { z } from 'zod';

/** Label of the button that signs in at the provider; null without one. */
export const AppSignInProvider = z.object({ name: z.string().nullable() });

/** Session of the account that the provider signed in. */
export const AppSession = z.object({ session: z.string() });
