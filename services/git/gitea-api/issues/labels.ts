import { z } from 'zod';
import { labelColor } from '../../domain/issue-text.ts';
import { setLabels } from '../../issues/changes.ts';
import { unknown } from '../../repositories/lookup.ts';
import type { Repository } from '../../repositories/repositories.ts';
import type { LabelRow } from '../../store/issue-tables.ts';
import { labelJson } from '../../wire/issues.ts';
import { accountOf, bodyOf, created, noContent, ok, optional, required, type Call, type Route } from '../call.ts';
import { listHeaders, numberOf, pageOf, partOf } from '../paging.ts';
import { placeOf } from '../api-dependencies.ts';
import { labelIdsOf } from './fields.ts';
import { issueAt, needWrite, repositoryAt, type IssueParts } from './issue-access.ts';

const color = z.string().transform((text, context) => {
  const found = labelColor(text);
  if (found === undefined)
    context.addIssue({ code: 'custom', message: `[Color]: '${text}' is not a valid color code` });
  return found ?? '';
});
const labelBody = z.object({
  name: required.max(50, 'MaxSize'),
  color,
  description: optional(z.string().max(200, 'MaxSize')),
  exclusive: optional(z.boolean()),
  is_archived: optional(z.boolean()),
});
const changeBody = labelBody.partial();
const labelsBody = z.object({ labels: optional(z.array(z.union([z.int(), z.string()]))) });

/** The labels of a repository, and those on an issue. */
export function labelRoutes(parts: IssueParts): readonly Route[] {
  const { context, db, issues, writer } = parts;

  const labelsOf = (repository: Repository) =>
    db.selectFrom('labels').selectAll().where('repository_id', '=', repository.id).orderBy('name').execute();
  const labelAt = async (call: Call): Promise<{ repository: Repository; label: LabelRow }> => {
    const place = await repositoryAt(parts, call);
    if (call.method !== 'GET' && call.method !== 'HEAD') needWrite(place);
    const label = await db
      .selectFrom('labels')
      .selectAll()
      .where('repository_id', '=', place.repository.id)
      .where('id', '=', numberOf(call.params['id']))
      .executeTakeFirst();
    if (label === undefined) throw unknown();
    return { repository: place.repository, label };
  };
  const one = async (call: Call, repository: Repository, id: number) => {
    const row = await db.selectFrom('labels').selectAll().where('id', '=', id).executeTakeFirst();
    if (row === undefined) throw unknown();
    return labelJson(row, placeOf(call, repository));
  };
  /** Those on an issue after `change` was made of those it had. */
  const relabel = async (
    call: Call,
    change: (had: readonly number[], asked: readonly number[]) => readonly number[],
    asked?: readonly (number | string)[],
  ) => {
    const place = await issueAt(parts, call);
    needWrite(place);
    const { issue, repository } = place;
    const wanted = await labelIdsOf(parts, repository, asked ?? (await bodyOf(call, labelsBody)).labels ?? []);
    const had = issue.labels.map(({ id }) => id);
    await writer.run(repository, accountOf(call), (work) => setLabels(work, issue, change(had, wanted)));
    const labels = (await issues.byId(issue.id))?.labels ?? [];
    return labels.map((label) => labelJson(label, placeOf(call, repository)));
  };

  return [
    {
      method: 'GET',
      path: '/repos/:owner/:repo/labels',
      scope: 'issue',
      handle: async (call) => {
        const { repository } = await repositoryAt(parts, call);
        const all = await labelsOf(repository);
        const page = pageOf(call.query);
        const some = partOf(all, page).map((label) => labelJson(label, placeOf(call, repository)));
        return ok(some, listHeaders(call, page, all.length));
      },
    },
    {
      method: 'POST',
      path: '/repos/:owner/:repo/labels',
      scope: 'issue',
      signedIn: true,
      handle: async (call) => {
        const place = await repositoryAt(parts, call);
        needWrite(place);
        const asked = await bodyOf(call, labelBody);
        const { id } = await context.commit((transaction: typeof db) =>
          transaction
            .insertInto('labels')
            .values({
              repository_id: place.repository.id,
              name: asked.name,
              color: asked.color,
              description: asked.description ?? '',
              exclusive: Number(asked.exclusive ?? false),
              archived: Number(asked.is_archived ?? false),
            })
            .returning('id')
            .executeTakeFirstOrThrow(),
        );
        return created(await one(call, place.repository, id));
      },
    },
    {
      method: 'GET',
      path: '/repos/:owner/:repo/labels/:id',
      scope: 'issue',
      handle: async (call) => {
        const { label, repository } = await labelAt(call);
        return ok(labelJson(label, placeOf(call, repository)));
      },
    },
    {
      method: 'PATCH',
      path: '/repos/:owner/:repo/labels/:id',
      scope: 'issue',
      signedIn: true,
      handle: async (call) => {
        const { label, repository } = await labelAt(call);
        const asked = await bodyOf(call, changeBody);
        const set = {
          name: asked.name ?? label.name,
          color: asked.color ?? label.color,
          description: asked.description ?? label.description,
          exclusive: asked.exclusive === undefined ? label.exclusive : Number(asked.exclusive),
          archived: asked.is_archived === undefined ? label.archived : Number(asked.is_archived),
        };
        await context.commit((transaction: typeof db) =>
          transaction.updateTable('labels').set(set).where('id', '=', label.id).execute(),
        );
        return ok(await one(call, repository, label.id));
      },
    },
    {
      method: 'DELETE',
      path: '/repos/:owner/:repo/labels/:id',
      scope: 'issue',
      signedIn: true,
      handle: async (call) => {
        const { label } = await labelAt(call);
        await context.commit((transaction: typeof db) =>
          transaction.deleteFrom('labels').where('id', '=', label.id).execute(),
        );
        return noContent;
      },
    },
    {
      method: 'GET',
      path: '/repos/:owner/:repo/issues/:index/labels',
      scope: 'issue',
      handle: async (call) => {
        const { issue, repository } = await issueAt(parts, call);
        return ok(issue.labels.map((label) => labelJson(label, placeOf(call, repository))));
      },
    },
    {
      method: 'POST',
      path: '/repos/:owner/:repo/issues/:index/labels',
      scope: 'issue',
      signedIn: true,
      handle: async (call) => ok(await relabel(call, (had, asked) => [...had, ...asked])),
    },
    {
      method: 'PUT',
      path: '/repos/:owner/:repo/issues/:index/labels',
      scope: 'issue',
      signedIn: true,
      handle: async (call) => ok(await relabel(call, (_had, asked) => asked)),
    },
    {
      method: 'DELETE',
      path: '/repos/:owner/:repo/issues/:index/labels',
      scope: 'issue',
      signedIn: true,
      handle: async (call) => {
        await relabel(call, () => [], []);
        return noContent;
      },
    },
    {
      method: 'DELETE',
      path: '/repos/:owner/:repo/issues/:index/labels/:label',
      scope: 'issue',
      signedIn: true,
      handle: async (call) => {
        const asked = call.params['label'] ?? '';
        const wanted = /^\d{1,15}$/.test(asked) ? Number(asked) : asked;
        await relabel(call, (had, [gone]) => had.filter((id) => id !== gone), [wanted]);
        return noContent;
      },
    },
  ];
}
