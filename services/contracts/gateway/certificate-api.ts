import { z } from 'zod';
import { defineRoute } from '../api.ts';

/** State of the certificate that a public authority issues for the domain of the owner. */
export const PublicCertificateState = z
  .object({
    /** Empty while no domain is set. */
    domain: z.string(),
    confirmation: z.enum(['cloudflare', 'duckdns', 'hetzner', 'desec', 'rfc2136', 'manual', 'http']),
    /** Names of the certificate. */
    names: z.array(z.string()),
    /**
     * `incomplete`: the terms of service are not accepted, or the authority has no address; `waiting`: for a record
     * that the owner creates; `stopped`: no further attempt until the owner acts.
     */
    status: z.enum(['off', 'incomplete', 'working', 'waiting', 'failed', 'stopped', 'done']),
    stage: z.enum(['staging', 'production']),
    /** Steps of the current order; empty without one. */
    steps: z.array(
      z.object({
        id: z.enum(['account', 'order', 'records', 'propagation', 'validation', 'certificate']),
        state: z.enum(['done', 'running', 'waiting', 'failed', 'open']),
      }),
    ),
    /** TXT records that the owner has to create. */
    records: z.array(z.object({ name: z.string(), value: z.string() })),
    /** Cause of the latest failure and its remedy. */
    problem: z.object({ code: z.string(), text: z.string() }).nullable(),
    /** Time of the next attempt, ms since the epoch. */
    nextAttemptAt: z.number().nullable(),
    certificate: z
      .object({
        names: z.array(z.string()),
        madeAt: z.number(),
        expiresAt: z.number(),
        /** The names lead to this computer. */
        resolves: z.boolean(),
        renewAt: z.number().nullable(),
      })
      .nullable(),
  })
  .meta({ id: 'PublicCertificateState' });
export type PublicCertificateState = z.infer<typeof PublicCertificateState>;

/** Routes about the certificate of a public authority; answered by the gateway. */
export const certificateApi = {
  state: defineRoute({
    method: 'GET',
    path: '/api/gateway/certificate',
    summary: 'Returns the certificate from a public authority for the custom domain, and the state of its order.',
    access: 'admin',
    reply: PublicCertificateState,
  }),
  retry: defineRoute({
    method: 'POST',
    path: '/api/gateway/certificate/retry',
    summary: 'Checks a record that was created manually, or repeats a failed order now.',
    access: 'admin',
    reply: PublicCertificateState,
  }),
};
