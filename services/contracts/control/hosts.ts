import { z } from 'zod';
import { defineRoute } from '../api.ts';

/** Service of a host that does not work or works only partially. */
export const HostProblem = z
  .object({
    service: z.string().describe('Title of the service, in the language of the host.'),
    reason: z.string().describe('In the language of the host.'),
  })
  .meta({ id: 'HostProblem' });
export type HostProblem = z.infer<typeof HostProblem>;

/** Host that uses the database. */
export const HostEntry = z
  .object({
    id: z.string(),
    name: z.string().describe('Name of the computer.'),
    version: z.string(),
    state: z
      .enum(['running', 'draining', 'offline'])
      .describe('`offline` if the host has not reported for 15 seconds.'),
    startedAt: z.number().describe("In ms since the epoch, according to the database's clock."),
    seenAt: z.number().describe('Time of the last report.'),
    problems: z.array(HostProblem).describe('Services that do not work, at the time of the last report.'),
    isCurrent: z.boolean().describe('True for the host that sends this response.'),
  })
  .meta({ id: 'HostEntry' });
export type HostEntry = z.infer<typeof HostEntry>;

/** Hosts that share a database. */
export const HostList = z.object({
  isShared: z.boolean().describe('True if the tables are in PostgreSQL, which several hosts can share.'),
  hosts: z.array(HostEntry),
});
export type HostList = z.infer<typeof HostList>;

/** Routes about the hosts of a shared database. */
export const hostRoutes = {
  hosts: defineRoute({
    method: 'GET',
    path: '/api/hosts',
    summary: 'Lists the hosts that share the database, with their version and the time of their last report.',
    access: 'admin',
    reply: HostList,
  }),
};
