import { z } from 'zod';

/** Directory of an authority (RFC 8555, 7.1.1). */
export const Directory = z.object({
  newNonce: z.url(),
  newAccount: z.url(),
  newOrder: z.url(),
  meta: z
    .object({
      externalAccountRequired: z.boolean().optional(),
    })
    .optional(),
});
export type Directory = z.infer<typeof Directory>;

/** Error document (RFC 7807; types in RFC 8555, 6.7). */
export const ErrorDocument = z.object({
  type: z.string().default('about:blank'),
  detail: z.string().default(''),
});
export type ErrorDocument = z.infer<typeof ErrorDocument>;

/** Account (RFC 8555, 7.1.2). */
export const Account = z.object({ status: z.string() });

/** Order (RFC 8555, 7.1.3). */
export const Order = z.object({
  status: z.enum(['pending', 'ready', 'processing', 'valid', 'invalid']),
  authorizations: z.array(z.url()),
  finalize: z.url(),
  certificate: z.url().optional(),
  error: ErrorDocument.optional(),
});
export type Order = z.infer<typeof Order>;

const Challenge = z.object({
  type: z.string(),
  url: z.url(),
  status: z.string(),
  token: z.string().optional(),
  error: ErrorDocument.optional(),
});
export type Challenge = z.infer<typeof Challenge>;

/** Authorization for a name (RFC 8555, 7.1.4). */
export const Authorization = z.object({
  identifier: z.object({ type: z.string(), value: z.string() }),
  status: z.enum(['pending', 'valid', 'invalid', 'deactivated', 'expired', 'revoked']),
  challenges: z.array(Challenge),
});
export type Authorization = z.infer<typeof Authorization>;
