import { z } from 'zod';
import { defineRoute } from '../api.ts';
import { mayRead, mayWrite } from '../route-access.ts';
import { MaintenanceConfig } from './maintenance.ts';
import { ProxyFields } from './proxies.ts';
import { PublicGroup, StatusPageConfig } from './status-pages.ts';
import { NewDockerHost } from './views.ts';

const read = mayRead('uptime');
const write = mayWrite('uptime');
const Done = z.object({ ok: z.literal(true) });

const NewTag = z.object({ name: z.string().trim().min(1).max(255), color: z.string().max(50).default('#4B5563') });

/** Tag of monitors. */
export const Tag = NewTag.extend({ id: z.int() }).meta({ id: 'UptimeTag' });
export type MonitorTag = z.infer<typeof Tag>;

/** All monitors, pages and options in one document, without secrets and history. */
export const UptimeExport = z.object({
  format: z.literal('homeport-uptime'),
  version: z.literal(1),
  tags: z.array(z.looseObject({ id: z.int(), ...NewTag.shape })).default([]),
  dockerHosts: z.array(z.looseObject({ id: z.int(), ...NewDockerHost.shape })).default([]),
  proxies: z.array(z.looseObject({ id: z.int(), ...ProxyFields.omit({ password: true }).shape })).default([]),
  monitors: z.array(z.looseObject({ id: z.int() })).max(20_000),
  statusPages: z
    .array(z.looseObject({ id: z.int(), ...StatusPageConfig.shape, publicGroupList: z.array(PublicGroup).default([]) }))
    .default([]),
  maintenances: z.array(z.looseObject({ id: z.int(), ...MaintenanceConfig.shape })).default([]),
});
export type UptimeExport = z.infer<typeof UptimeExport>;

/** Uptime of one monitor in a period, with its remaining error budget. */
export const ReportRow = z
  .object({
    id: z.int(),
    name: z.string(),
    uptime: z.number().nullable().describe('From 0 to 1, based on time and excluding maintenance; null without data.'),
    downSeconds: z.int(),
    knownSeconds: z.int(),
    outages: z.int(),
    avgPing: z.number().nullable(),
    budgetSeconds: z.int().describe('Downtime that the target allows.'),
    budgetLeftSeconds: z.int(),
    meets: z.boolean().nullable(),
  })
  .meta({ id: 'UptimeReportRow' });
export type ReportRow = z.infer<typeof ReportRow>;

const columns = [
  'id',
  'name',
  'uptime',
  'downSeconds',
  'knownSeconds',
  'outages',
  'avgPing',
  'budgetSeconds',
  'budgetLeftSeconds',
  'meets',
] as const;

/** Renders a report as CSV (RFC 4180). Text that a spreadsheet would evaluate as a formula is escaped. */
export function reportCsv(rows: readonly ReportRow[]): string {
  const cell = (value: string | number | boolean | null): string => {
    const text = typeof value === 'string' && /^[=+\-@\t\r]/.test(value) ? `'${value}` : String(value ?? '');
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return [columns, ...rows.map((row) => columns.map((column) => row[column]))]
    .map((line) => line.map(cell).join(','))
    .join('\r\n')
    .concat('\r\n');
}

/** Query of the availability report. `target` is a percentage. */
export const ReportQuery = z.object({
  days: z.coerce.number().int().min(1).max(366).default(30),
  target: z.coerce.number().min(0).max(100).default(99.9),
});

/** Routes for tags, bulk changes of monitors, exports and reports. */
export const manageApi = {
  tags: defineRoute({
    method: 'GET',
    path: '/api/uptime/tags',
    summary: 'Lists the tags for monitors.',
    access: read,
    reply: z.object({ items: z.array(Tag) }),
  }),
  addTag: defineRoute({
    method: 'POST',
    path: '/api/uptime/tags',
    summary: 'Adds a tag. Assign it to a monitor with `tags: [{tag_id, value}]`.',
    access: write,
    body: NewTag,
    reply: Tag,
  }),
  changeTag: defineRoute({
    method: 'PATCH',
    path: '/api/uptime/tags/:id',
    summary: 'Changes a tag.',
    access: write,
    body: z.object({ name: NewTag.shape.name.optional(), color: z.string().max(50).optional() }),
    reply: Tag,
  }),
  removeTag: defineRoute({
    method: 'DELETE',
    path: '/api/uptime/tags/:id',
    summary: 'Deletes a tag, and removes it from all monitors.',
    access: write,
    reply: Done,
  }),
  editMany: defineRoute({
    method: 'POST',
    path: '/api/uptime/monitors/bulk-edit',
    summary:
      'Changes the fields in the request for many monitors, or deletes the monitors. Failures are listed in the ' +
      'response.',
    access: write,
    body: z.object({
      ids: z.array(z.int()).min(1).max(5000),
      change: z.record(z.string(), z.unknown()).optional(),
      remove: z.boolean().optional(),
    }),
    reply: z.object({ done: z.int(), failed: z.array(z.object({ id: z.int(), error: z.string() })) }),
  }),
  export: defineRoute({
    method: 'GET',
    path: '/api/uptime/export',
    summary:
      'Exports monitors, groups, tags, engines, status pages and maintenance windows as one document, without ' +
      'secrets.',
    access: write,
    reply: UptimeExport,
  }),
  import: defineRoute({
    method: 'POST',
    path: '/api/uptime/import',
    summary:
      'Imports a kuma.db, an Uptime Kuma backup, or an export from this service. The request body is the file. ' +
      'Monitors of unknown types keep all their fields.',
    access: write,
    bytes: true,
    reply: z.object({
      monitors: z.int(),
      tags: z.int(),
      dockerHosts: z.int(),
      proxies: z.int(),
      statusPages: z.int(),
      maintenances: z.int(),
      notifications: z
        .array(z.object({ name: z.string(), type: z.string(), monitors: z.int() }))
        .describe('Notification destinations in the imported data; set them up again in Delivery.'),
      skipped: z.array(z.object({ what: z.string(), name: z.string(), why: z.string() })),
    }),
  }),
  report: defineRoute({
    method: 'GET',
    path: '/api/uptime/report',
    summary:
      "Returns the uptime, outages and error budget of each monitor. `/api/report.csv` on the service's own " +
      'port returns the same data as CSV.',
    access: read,
    query: ReportQuery,
    reply: z.object({ days: z.int(), target: z.number(), rows: z.array(ReportRow) }),
  }),
};
