import { z } from 'zod';
import { Problem } from '../../../contracts/problem.ts';
import { Attachments, largestFile, type Attached } from '../../issues/attachments.ts';
import { tooLarge } from '../../releases/stored-files.ts';
import { unknown } from '../../repositories/lookup.ts';
import { assetJson } from '../../wire/releases.ts';
import { accountOf, bodyOf, created, noContent, ok, required, type Call, type Route } from '../call.ts';
import { numberOf } from '../paging.ts';
import { uploadOf } from '../upload.ts';
import { commentAt, issueAt, mayWrite, needOpen, type IssueParts, type IssuePlace } from './issue-access.ts';

/** Of a form around a file, bytes. */
const mostAround = 1024 * 1024;
const nameBody = z.object({ name: required });

/** Files of issues and of comments. */
export function attachmentRoutes(parts: IssueParts): readonly Route[] {
  const attachments = new Attachments(parts.context);

  /** What a call's files belong to, and who wrote that. */
  const subject = async (call: Call): Promise<IssuePlace & Attached & { readonly author: string }> => {
    if (call.params['index'] !== undefined) {
      const { issue, level, repository } = await issueAt(parts, call);
      return { level, repository, issue: issue.id, entry: 0, author: issue.author };
    }
    const { entry, issue, level, repository } = await commentAt(parts, call);
    return { level, repository, issue: issue.id, entry: entry.id, author: entry.author };
  };
  const changeable = async (call: Call) => {
    const found = await subject(call);
    needOpen(found.repository);
    if (found.author === accountOf(call) || mayWrite(found.level)) return found;
    throw new Problem('git.forbidden', 403, 'user should have permission to edit this');
  };
  const one = async (call: Call, where: Attached) => {
    const id = numberOf(call.params['asset']);
    const file = (await attachments.list(where)).find((each) => each.id === id);
    if (file === undefined) throw unknown();
    return file;
  };
  const address = (call: Call, { uuid }: { readonly uuid: string }) => `${call.base}/attachments/${uuid}`;
  const list: Route['handle'] = async (call) =>
    ok((await attachments.list(await subject(call))).map((file) => assetJson(file, address(call, file))));

  return ['/repos/:owner/:repo/issues/comments/:id/assets', '/repos/:owner/:repo/issues/:index/assets'].flatMap(
    (path): Route[] => [
      { method: 'GET', path, scope: 'issue', handle: list },
      {
        method: 'POST',
        path,
        scope: 'issue',
        signedIn: true,
        handle: async (call) => {
          const where = await changeable(call);
          // Before anything of it is read.
          if (Number(call.request.headers['content-length'] ?? 0) > largestFile + mostAround) throw tooLarge();
          const take = (name: string, bytes: Parameters<Attachments['attach']>[4]) =>
            attachments.attach(where.repository, where, accountOf(call), name, bytes);
          const file = await uploadOf(call, take);
          return created(assetJson(file, address(call, file)));
        },
      },
      {
        method: 'GET',
        path: `${path}/:asset`,
        scope: 'issue',
        handle: async (call) => {
          const file = await one(call, await subject(call));
          return ok(assetJson(file, address(call, file)));
        },
      },
      {
        method: 'PATCH',
        path: `${path}/:asset`,
        scope: 'issue',
        signedIn: true,
        handle: async (call) => {
          const file = await one(call, await changeable(call));
          const { name } = await bodyOf(call, nameBody);
          return created(assetJson(await attachments.rename(file, name), address(call, file)));
        },
      },
      {
        method: 'DELETE',
        path: `${path}/:asset`,
        scope: 'issue',
        signedIn: true,
        handle: async (call) => {
          const where = await changeable(call);
          await attachments.remove(where.repository, await one(call, where));
          return noContent;
        },
      },
    ],
  );
}
