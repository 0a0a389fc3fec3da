import { z } from 'zod';
import { defineRoute } from '../api.ts';
import { defineTopic } from '../bus.ts';
import { mayRead, mayWrite } from '../route-access.ts';
import { Tag } from './manage.ts';
import { HeartbeatStatus, MonitorConfig } from './monitor.ts';
import {
  ApiKey,
  Heartbeat,
  CertificateChain,
  ChartPoint,
  DockerHost,
  Incident,
  Monitor,
  MonitorRow,
  NewDockerHost,
  TestResult,
  UptimeHour,
  UptimeOptions,
} from './views.ts';

/** Published when monitors changed their status, or were added, changed or removed; pages reload what they show. */
export const uptimeChanged = defineTopic(
  'uptime.changed',
  z.object({ ids: z.array(z.int()).describe('Empty: many.'), at: z.number() }),
);
/** Published when checks were made; at most once in two seconds. */
export const uptimeActivity = defineTopic('uptime.worked', z.object({ at: z.number() }));

const Done = z.object({ ok: z.literal(true) });
const read = mayRead('uptime');
const write = mayWrite('uptime');
/** Monitor ids, at most a hundred. */
const ids = z.string().regex(/^\d{1,10}(,\d{1,10}){0,99}$/);
const limit = (usual: number, max: number) => z.coerce.number().int().min(1).max(max).default(usual);

/**
 * Routes below `/api/uptime` of the control listener for the pages, and below `/api` of the service's own port for
 * programs.
 */
export const uptimeApi = {
  overview: defineRoute({
    method: 'GET',
    path: '/api/uptime/overview',
    summary: 'All monitors and how they stand, as briefly as possible.',
    access: read,
    reply: z.object({ rows: z.array(MonitorRow), dockerHosts: z.array(DockerHost), tags: z.array(Tag) }),
  }),
  recent: defineRoute({
    method: 'GET',
    path: '/api/uptime/recent',
    summary: 'The last beats of some monitors, oldest first: pairs of status and ping.',
    access: read,
    query: z.object({ ids, count: limit(30, 100) }),
    reply: z.record(z.string(), z.array(z.tuple([HeartbeatStatus, z.number().nullable(), z.number()]))),
  }),
  hours: defineRoute({
    method: 'GET',
    path: '/api/uptime/hours',
    summary: 'How some monitors were in each of the last 24 hours, oldest first, the current one last.',
    access: read,
    query: z.object({ ids }),
    reply: z.record(z.string(), z.array(UptimeHour)),
  }),
  favicons: defineRoute({
    method: 'GET',
    path: '/api/uptime/favicons',
    summary: 'The icons of the websites of some monitors as data URLs, of those that are known after a few seconds.',
    access: read,
    query: z.object({ ids }),
    reply: z.record(z.string(), z.string()),
  }),
  monitors: defineRoute({
    method: 'GET',
    path: '/api/uptime/monitors',
    summary: 'Monitors in the order of their ids; page on with `cursor`.',
    access: read,
    query: z.object({
      limit: limit(100, 1000),
      cursor: z.coerce.number().int().optional(),
      status: z.enum(['up', 'down', 'pending', 'maintenance', 'paused']).optional(),
      parent: z.coerce.number().int().optional(),
      q: z.string().optional(),
    }),
    reply: z.object({ items: z.array(Monitor), nextCursor: z.int().nullable(), total: z.int() }),
  }),
  add: defineRoute({
    method: 'POST',
    path: '/api/uptime/monitors',
    summary: 'Adds a monitor; it is checked at once.',
    access: write,
    query: z.object({ strict: z.stringbool().optional() }),
    body: MonitorConfig,
    reply: Monitor,
  }),
  addMany: defineRoute({
    method: 'POST',
    path: '/api/uptime/monitors/bulk',
    summary: 'Adds up to 1,000 monitors in one transaction; those that do not fit are named.',
    access: write,
    body: z.object({ items: z.array(z.record(z.string(), z.unknown())).min(1).max(1000) }),
    reply: z.object({ items: z.array(z.object({ id: z.int().optional(), error: z.string().optional() })) }),
  }),
  monitor: defineRoute({
    method: 'GET',
    path: '/api/uptime/monitors/:id',
    summary: 'One monitor.',
    access: read,
    reply: Monitor,
  }),
  change: defineRoute({
    method: 'PATCH',
    path: '/api/uptime/monitors/:id',
    summary: 'Changes the named fields; null empties one.',
    access: write,
    body: z.record(z.string(), z.unknown()),
    reply: Monitor,
  }),
  replace: defineRoute({
    method: 'PUT',
    path: '/api/uptime/monitors/:id',
    summary: 'Replaces all fields; secrets that are not named stay.',
    access: write,
    body: MonitorConfig,
    reply: Monitor,
  }),
  remove: defineRoute({
    method: 'DELETE',
    path: '/api/uptime/monitors/:id',
    summary: 'Removes a monitor with its history; those of a group stay unless told otherwise.',
    access: write,
    query: z.object({ deleteChildren: z.stringbool().optional() }),
    reply: Done,
  }),
  pause: defineRoute({
    method: 'POST',
    path: '/api/uptime/monitors/:id/pause',
    summary: 'Checks no more until it is resumed.',
    access: write,
    reply: Done,
  }),
  resume: defineRoute({
    method: 'POST',
    path: '/api/uptime/monitors/:id/resume',
    summary: 'Checks again, at once.',
    access: write,
    reply: Done,
  }),
  check: defineRoute({
    method: 'POST',
    path: '/api/uptime/monitors/:id/check',
    summary: 'Checks now and answers with the beat.',
    access: write,
    reply: Heartbeat,
  }),
  test: defineRoute({
    method: 'POST',
    path: '/api/uptime/monitors/test',
    summary: 'Checks a configuration once without storing it; with `id`, missing fields are those of that monitor.',
    access: write,
    body: z.object({ id: z.int().optional(), config: z.record(z.string(), z.unknown()) }),
    reply: TestResult,
  }),
  duplicate: defineRoute({
    method: 'POST',
    path: '/api/uptime/monitors/:id/duplicate',
    summary: 'Adds a paused copy of a monitor with its secrets.',
    access: write,
    reply: Monitor,
  }),
  beats: defineRoute({
    method: 'GET',
    path: '/api/uptime/monitors/:id/beats',
    summary: 'Beats, newest first; `before` is the cursor of the page before.',
    access: read,
    query: z.object({
      limit: limit(100, 1000),
      before: z.coerce.number().int().optional(),
      important: z.stringbool().optional(),
    }),
    reply: z.object({ items: z.array(Heartbeat), nextCursor: z.int().nullable() }),
  }),
  chart: defineRoute({
    method: 'GET',
    path: '/api/uptime/monitors/:id/chart',
    summary: 'Response times: by minutes up to a day, by hours up to 30 days, else by days; oldest first.',
    access: read,
    query: z.object({ hours: z.coerce.number().int().min(1).max(8784).default(24) }),
    reply: z.object({
      items: z.array(ChartPoint),
      previous: z
        .array(ChartPoint)
        .describe('The same length of time before, by hours up to 30 days, else by days, as far as it is stored.'),
      usual: z.object({ median: z.number(), threshold: z.number() }).nullable(),
    }),
  }),
  facts: defineRoute({
    method: 'GET',
    path: '/api/uptime/monitors/:id/facts',
    summary: 'Its uptime over time, its certificate and its problems.',
    access: read,
    reply: z.object({
      uptime: z.object({
        day: z.number().nullable(),
        week: z.number().nullable(),
        month: z.number().nullable(),
        year: z.number().nullable(),
      }),
      avgPing24h: z.number().nullable(),
      certificate: CertificateChain.nullable(),
      pushPath: z.string().nullable().describe('Where a push monitor hears from its program.'),
      description: z.string().nullable(),
      dependsOn: z.array(z.int()).describe('Monitors whose outage suppresses the alerts of this one.'),
      problems: z
        .array(z.string())
        .describe('What is not checked although the monitor asks for it, and why it was paused.'),
    }),
  }),
  incidents: defineRoute({
    method: 'GET',
    path: '/api/uptime/incidents',
    summary: 'Outages, newest first.',
    access: read,
    query: z.object({
      open: z.stringbool().optional(),
      monitor: z.coerce.number().int().optional(),
      limit: limit(50, 500),
      before: z.coerce.number().int().optional(),
    }),
    reply: z.object({ items: z.array(Incident), nextCursor: z.int().nullable() }),
  }),
  incident: defineRoute({
    method: 'GET',
    path: '/api/uptime/incidents/:id',
    summary: 'One outage.',
    access: read,
    reply: Incident,
  }),
  acknowledge: defineRoute({
    method: 'POST',
    path: '/api/uptime/incidents/:id/ack',
    summary: 'Somebody knows: repeats stop.',
    access: write,
    reply: Incident,
  }),
  note: defineRoute({
    method: 'POST',
    path: '/api/uptime/incidents/:id/notes',
    summary: 'Writes a note into its timeline.',
    access: write,
    body: z.object({ text: z.string().trim().min(1).max(10_000) }),
    reply: Incident,
  }),
  resolve: defineRoute({
    method: 'POST',
    path: '/api/uptime/incidents/:id/resolve',
    summary: 'Ends it by hand.',
    access: write,
    reply: Incident,
  }),
  dockerHosts: defineRoute({
    method: 'GET',
    path: '/api/uptime/docker-hosts',
    summary: 'Container engines that monitors may name.',
    access: read,
    reply: z.object({ items: z.array(DockerHost) }),
  }),
  addDockerHost: defineRoute({
    method: 'POST',
    path: '/api/uptime/docker-hosts',
    summary: 'Adds a container engine: a socket, or an address such as tcp://nas:2375.',
    access: write,
    body: NewDockerHost,
    reply: DockerHost,
  }),
  removeDockerHost: defineRoute({
    method: 'DELETE',
    path: '/api/uptime/docker-hosts/:id',
    summary: 'Removes a container engine; its monitors have none then.',
    access: write,
    reply: Done,
  }),
  testDockerHost: defineRoute({
    method: 'POST',
    path: '/api/uptime/docker-hosts/test',
    summary: 'Asks a container engine for its containers.',
    access: write,
    body: NewDockerHost.extend({ name: z.string().max(255).default('') }),
    reply: z.object({
      ok: z.literal(true),
      count: z.int(),
      containers: z.array(
        z.object({ id: z.string(), name: z.string(), image: z.string(), state: z.string(), health: z.string() }),
      ),
    }),
  }),
  apiKeys: defineRoute({
    method: 'GET',
    path: '/api/uptime/api-keys',
    summary: 'Keys for programs, without their texts.',
    access: write,
    reply: z.object({ items: z.array(ApiKey) }),
  }),
  addApiKey: defineRoute({
    method: 'POST',
    path: '/api/uptime/api-keys',
    summary: 'Makes a key; its text is shown this once.',
    access: write,
    body: z.object({ name: z.string().trim().min(1).max(255), expires: z.number().nullish() }),
    reply: z.object({ id: z.int(), key: z.string() }),
  }),
  removeApiKey: defineRoute({
    method: 'DELETE',
    path: '/api/uptime/api-keys/:id',
    summary: 'Removes a key; it opens nothing any more.',
    access: write,
    reply: Done,
  }),
  options: defineRoute({
    method: 'GET',
    path: '/api/uptime/settings',
    summary: 'What is set while the service runs.',
    access: read,
    reply: UptimeOptions,
  }),
  setOptions: defineRoute({
    method: 'PUT',
    path: '/api/uptime/settings',
    summary: 'Sets what is named.',
    access: write,
    body: UptimeOptions.partial(),
    reply: UptimeOptions,
  }),
};
