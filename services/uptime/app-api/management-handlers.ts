import type { RequestHandler } from 'express';
import { implement, type ApiHandler } from '../../contracts/api.ts';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import { manageApi, reportCsv, ReportQuery } from '../../contracts/uptime/manage.ts';
import { exportAll, importAll, type MoveParts } from '../kuma-import/import-export.ts';
import { withUpload } from '../kuma-import/upload.ts';
import type { IncidentStore } from '../store/incidents.ts';
import type { Figures } from '../monitoring/statistics.ts';
import { reportOf } from '../monitoring/report.ts';
import type { ApiKeys } from '../store/api-keys.ts';
import { callerOf, requireRight } from './sign-in.ts';

const done = { ok: true } as const;

export interface ManageParts extends MoveParts {
  readonly context: Context;
  readonly keys: ApiKeys;
  readonly figures: Figures;
  readonly incidents: IncidentStore;
}

/** Returns the handlers for tags, bulk edits, import, export and reports. */
export function manageHandlers(parts: ManageParts): readonly ApiHandler[] {
  const { monitors, tags } = parts;
  return [
    implement(manageApi.tags, () => ({ items: [...tags.known.values()] })),
    implement(manageApi.addTag, ({ body }) => tags.add(body)),
    implement(manageApi.changeTag, ({ params, body }) => {
      const tag = tags.known.get(Number(params['id']));
      if (tag === undefined) throw new Problem('uptime.unknown_tag', 404, 'Tag not found');
      return tags.change(tag.id, { name: body.name ?? tag.name, color: body.color ?? tag.color });
    }),
    implement(manageApi.removeTag, async ({ params }) => {
      await tags.remove(Number(params['id']));
      return done;
    }),
    implement(manageApi.editMany, async ({ body: { ids, change, remove } }) => {
      const failed: { id: number; error: string }[] = [];
      for (const id of new Set(ids)) {
        try {
          if (remove === true) await monitors.remove(id, { children: false });
          else await monitors.change(id, change ?? {}, { merge: true });
        } catch (error) {
          if (!(error instanceof Problem)) throw error;
          failed.push({ id, error: error.detail });
        }
      }
      return { done: new Set(ids).size - failed.length, failed };
    }),
    implement(manageApi.export, () => {
      parts.context.accounts.record({ event: 'data_exported', detail: 'monitors and status pages' });
      return exportAll(parts);
    }),
    implement(manageApi.import, ({ incoming }) => {
      if (incoming === undefined) throw new Problem('uptime.no_backup', 400, 'There is no file in this request.');
      return withUpload(parts.context.files, incoming, (holding) => importAll(parts, holding));
    }),
    implement(manageApi.report, async ({ query }) => ({ ...query, rows: await rowsOf(parts, query) })),
  ];
}

/** Returns the report as CSV. */
export function reportFile(parts: ManageParts): RequestHandler {
  return async (request, response) => {
    requireRight(await callerOf(parts.context, parts.keys, request), 'read');
    const parsed = ReportQuery.safeParse(request.query);
    if (!parsed.success) throw new Problem('uptime.invalid', 400, 'Use days from 1 to 366 and a target in per cent.');
    response.setHeader('Content-Disposition', `attachment; filename="uptime-${String(parsed.data.days)}-days.csv"`);
    response.type('text/csv').send(reportCsv(await rowsOf(parts, parsed.data)));
  };
}

function rowsOf({ monitors, figures, incidents, context }: ManageParts, query: { days: number; target: number }) {
  return reportOf(monitors.all(), query, { figures, incidents, now: context.clock.now() });
}
