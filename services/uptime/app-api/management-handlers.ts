import * as m from '#messages/uptime-problems';
import { implement, type ApiHandler } from '../../contracts/api.ts';
import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import { manageApi, reportCsv, ReportQuery } from '../../contracts/uptime/manage.ts';
import type { Route } from '../../kit/http/listener.ts';
import { toQueryObject } from '../../kit/http/query.ts';
import { textReply } from '../../kit/http/respond.ts';
import { exportAll, importAll, type ImportDependencies } from '../kuma-import/import-export.ts';
import { withUpload } from '../kuma-import/upload.ts';
import { buildReport } from '../monitoring/report.ts';
import { authenticateCaller, requireRight } from './sign-in.ts';

const success = { ok: true } as const;

export interface ManagementDependencies extends ImportDependencies {
  readonly context: Context;
}

/** Returns the handlers for tags, bulk edits, import, export and reports. */
export function createManagementHandlers(dependencies: ManagementDependencies): readonly ApiHandler[] {
  const { monitors } = dependencies.monitoring;
  const { tags } = dependencies.stores;
  return [
    implement(manageApi.tags, () => ({ items: [...tags.all.values()] })),
    implement(manageApi.addTag, ({ body }) => tags.add(body)),
    implement(manageApi.changeTag, ({ params, body }) => {
      const tag = tags.all.get(Number(params['id']));
      if (tag === undefined) throw new Problem('uptime.unknown_tag', 404, m.tagNotFound());
      return tags.change(tag.id, { name: body.name ?? tag.name, color: body.color ?? tag.color });
    }),
    implement(manageApi.removeTag, async ({ params }) => {
      await tags.remove(Number(params['id']));
      return success;
    }),
    implement(manageApi.editMany, async ({ body: { ids, change, remove } }) => {
      const failed: { id: number; error: string }[] = [];
      for (const id of new Set(ids)) {
        try {
          if (remove === true) await monitors.remove(id, { findChildren: false });
          else await monitors.change(id, change ?? {}, { merge: true });
        } catch (error) {
          if (!(error instanceof Problem)) throw error;
          failed.push({ id, error: error.detail });
        }
      }
      return { done: new Set(ids).size - failed.length, failed };
    }),
    implement(manageApi.order, async ({ body: { weights } }) => {
      await monitors.order(new Map(weights.map(({ id, weight }) => [id, weight])));
      return { ok: true as const };
    }),
    implement(manageApi.export, () => {
      dependencies.context.accounts.record({ event: 'data_exported', detail: 'monitors and status pages' });
      return exportAll(dependencies);
    }),
    implement(manageApi.import, ({ incoming }) => {
      if (incoming === undefined) throw new Problem('uptime.no_backup', 400, m.fileMissing());
      return withUpload(dependencies.context.files, incoming, (holding) => importAll(dependencies, holding));
    }),
    implement(manageApi.report, async ({ query }) => ({ ...query, rows: await buildRows(dependencies, query) })),
  ];
}

/** Returns the handler of the report as CSV. */
export function createReportHandler(dependencies: ManagementDependencies): Route['handle'] {
  return async ({ request, query }) => {
    requireRight(await authenticateCaller(dependencies.context, dependencies.stores.keys, request), 'read');
    const parsed = ReportQuery.safeParse(toQueryObject(query));
    if (!parsed.success) throw new Problem('uptime.invalid', 400, m.reportInvalid());
    return textReply(200, reportCsv(await buildRows(dependencies, parsed.data)), {
      'Content-Disposition': `attachment; filename="uptime-${String(parsed.data.days)}-days.csv"`,
      'Content-Type': 'text/csv; charset=utf-8',
    });
  };
}

function buildRows({ monitoring, stores, context }: ManagementDependencies, query: { days: number; target: number }) {
  return buildReport(monitoring.monitors.all(), query, {
    figures: monitoring.statistics,
    incidents: stores.incidents,
    now: context.clock.now(),
  });
}
