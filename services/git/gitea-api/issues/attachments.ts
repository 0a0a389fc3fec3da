import { z } from 'zod';
import { Problem } from '../../../contracts/problem.ts';
import { Attachments, largestFile, type Attached } from '../../issues/attachments.ts';
import { tooLarge } from '../../releases/stored-files.ts';
import { unknown } from '../../repositories/lookup.ts';
import { assetJson } from '../../wire/releases.ts';
import {
  accountOf,
  bodyOf,
  created,
  noContent,
  ok,
  required,
  route,
  signedInRoute,
  type Answer,
  type Call,
  type Route,
} from '../call.ts';
import { numberOf } from '../paging.ts';
import { uploadOf } from '../upload.ts';
import { commentAt, issueAt, mayWrite, needOpen, type IssueParts, type IssuePlace } from './issue-access.ts';

/** Of a form around a file, bytes. */
const mostAround = 1024 * 1024;
const nameBody = z.object({ name: required });

/** Files of issues and of comments. */
export function attachmentRoutes(parts: IssueParts): readonly Route[] {
  return ['/repos/:owner/:repo/issues/comments/:id/assets', '/repos/:owner/:repo/issues/:index/assets'].flatMap(
    (path): Route[] => [
      route('GET', path, 'issue', (call) => listAttachments(parts, call)),
      signedInRoute('POST', path, 'issue', (call) => uploadAttachment(parts, call)),
      route('GET', `${path}/:asset`, 'issue', (call) => readAttachment(parts, call)),
      signedInRoute('PATCH', `${path}/:asset`, 'issue', (call) => renameAttachment(parts, call)),
      signedInRoute('DELETE', `${path}/:asset`, 'issue', (call) => deleteAttachment(parts, call)),
    ],
  );
}

/** What a call's files belong to, and who wrote that. */
async function getSubject(parts: IssueParts, call: Call): Promise<IssuePlace & Attached & { readonly author: string }> {
  if (call.params['index'] !== undefined) {
    const { issue, level, repository } = await issueAt(parts, call);
    return { level, repository, issue: issue.id, entry: 0, author: issue.author };
  }
  const { entry, issue, level, repository } = await commentAt(parts, call);
  return { level, repository, issue: issue.id, entry: entry.id, author: entry.author };
}

async function getChangeableSubject(parts: IssueParts, call: Call) {
  const found = await getSubject(parts, call);
  needOpen(found.repository);
  if (found.author === accountOf(call) || mayWrite(found.level)) return found;
  throw new Problem('git.forbidden', 403, 'user should have permission to edit this');
}

async function getAttachment(parts: IssueParts, call: Call, where: Attached) {
  const attachments = new Attachments(parts.context);

  const id = numberOf(call.params['asset']);
  const file = (await attachments.list(where)).find((each) => each.id === id);
  if (file === undefined) throw unknown();
  return file;
}

function attachmentUrl(call: Call, { uuid }: { readonly uuid: string }) {
  return `${call.base}/attachments/${uuid}`;
}

async function listAttachments(parts: IssueParts, call: Call): Promise<Answer> {
  const attachments = new Attachments(parts.context);
  return ok(
    (await attachments.list(await getSubject(parts, call))).map((file) => assetJson(file, attachmentUrl(call, file))),
  );
}

async function uploadAttachment(parts: IssueParts, call: Call): Promise<Answer> {
  const attachments = new Attachments(parts.context);

  const where = await getChangeableSubject(parts, call);
  // Before anything of it is read.
  if (Number(call.request.headers['content-length'] ?? 0) > largestFile + mostAround) throw tooLarge();
  const take = (name: string, bytes: Parameters<Attachments['attach']>[4]) =>
    attachments.attach(where.repository, where, accountOf(call), name, bytes);
  const file = await uploadOf(call, take);
  return created(assetJson(file, attachmentUrl(call, file)));
}

async function readAttachment(parts: IssueParts, call: Call): Promise<Answer> {
  const file = await getAttachment(parts, call, await getSubject(parts, call));
  return ok(assetJson(file, attachmentUrl(call, file)));
}

async function renameAttachment(parts: IssueParts, call: Call): Promise<Answer> {
  const attachments = new Attachments(parts.context);

  const file = await getAttachment(parts, call, await getChangeableSubject(parts, call));
  const { name } = await bodyOf(call, nameBody);
  return created(assetJson(await attachments.rename(file, name), attachmentUrl(call, file)));
}

async function deleteAttachment(parts: IssueParts, call: Call): Promise<Answer> {
  const attachments = new Attachments(parts.context);

  const where = await getChangeableSubject(parts, call);
  await attachments.remove(where.repository, await getAttachment(parts, call, where));
  return noContent;
}
