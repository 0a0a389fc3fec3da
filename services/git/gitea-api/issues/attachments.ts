import { z } from 'zod';
import { Problem } from '../../../contracts/problem.ts';
import { Attachments, maxFileBytes, type AttachmentOwner } from '../../issues/attachments.ts';
import { buildFileTooLargeProblem } from '../../releases/stored-files.ts';
import { buildNotFoundProblem } from '../../repositories/lookup.ts';
import { assetJson } from '../../wire/releases.ts';
import {
  getAccount,
  readJsonBody,
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
import { parseId } from '../paging.ts';
import { readUpload } from '../upload.ts';
import { getComment, getIssue, mayWrite, requireNotArchived, type IssueContext } from './issue-access.ts';
import type { RouteDependencies } from '../../components.ts';

type Dependencies = Pick<RouteDependencies, 'context' | 'storage' | 'accessControl' | 'collaboration'>;

/** Maximum size of the form around a file, bytes. */
const maxFormBytes = 1024 * 1024;
const nameBody = z.object({ name: required });

/** Builds the routes of attachments of issues and comments. */
export function attachmentRoutes(deps: Dependencies): readonly Route[] {
  return ['/repos/:owner/:repo/issues/comments/:id/assets', '/repos/:owner/:repo/issues/:index/assets'].flatMap(
    (path): Route[] => [
      route('GET', path, 'issue', (call) => listAttachments(deps, call)),
      signedInRoute('POST', path, 'issue', (call) => uploadAttachment(deps, call)),
      route('GET', `${path}/:asset`, 'issue', (call) => readAttachment(deps, call)),
      signedInRoute('PATCH', `${path}/:asset`, 'issue', (call) => renameAttachment(deps, call)),
      signedInRoute('DELETE', `${path}/:asset`, 'issue', (call) => deleteAttachment(deps, call)),
    ],
  );
}

/** Returns the issue or comment of a call, with its author. */
async function getSubject(
  deps: Dependencies,
  call: Call,
): Promise<IssueContext & AttachmentOwner & { readonly author: string }> {
  if (call.params['index'] !== undefined) {
    const { issue, level, repository } = await getIssue(deps, call);
    return { level, repository, issue: issue.id, entry: 0, author: issue.author };
  }
  const { entry, issue, level, repository } = await getComment(deps, call);
  return { level, repository, issue: issue.id, entry: entry.id, author: entry.author };
}

async function getChangeableSubject(deps: Dependencies, call: Call) {
  const subject = await getSubject(deps, call);
  requireNotArchived(subject.repository);
  if (subject.author === getAccount(call) || mayWrite(subject.level)) return subject;
  throw new Problem('git.forbidden', 403, 'user should have permission to edit this');
}

async function getAttachment(deps: Dependencies, call: Call, subject: AttachmentOwner) {
  const attachments = new Attachments(deps.context);

  const id = parseId(call.params['asset']);
  const file = (await attachments.list(subject)).find((each) => each.id === id);
  if (file === undefined) throw buildNotFoundProblem();
  return file;
}

function attachmentUrl(call: Call, { uuid }: { readonly uuid: string }) {
  return `${call.base}/attachments/${uuid}`;
}

async function listAttachments(deps: Dependencies, call: Call): Promise<Answer> {
  const attachments = new Attachments(deps.context);
  return ok(
    (await attachments.list(await getSubject(deps, call))).map((file) => assetJson(file, attachmentUrl(call, file))),
  );
}

async function uploadAttachment(deps: Dependencies, call: Call): Promise<Answer> {
  const attachments = new Attachments(deps.context);

  const subject = await getChangeableSubject(deps, call);
  // Refused before the body is read.
  if (Number(call.request.headers['content-length'] ?? 0) > maxFileBytes + maxFormBytes)
    throw buildFileTooLargeProblem();
  const attach = (name: string, bytes: Parameters<Attachments['attach']>[4]) =>
    attachments.attach(subject.repository, subject, getAccount(call), name, bytes);
  const file = await readUpload(call, attach);
  return created(assetJson(file, attachmentUrl(call, file)));
}

async function readAttachment(deps: Dependencies, call: Call): Promise<Answer> {
  const file = await getAttachment(deps, call, await getSubject(deps, call));
  return ok(assetJson(file, attachmentUrl(call, file)));
}

async function renameAttachment(deps: Dependencies, call: Call): Promise<Answer> {
  const attachments = new Attachments(deps.context);

  const file = await getAttachment(deps, call, await getChangeableSubject(deps, call));
  const { name } = await readJsonBody(call, nameBody);
  return created(assetJson(await attachments.rename(file, name), attachmentUrl(call, file)));
}

async function deleteAttachment(deps: Dependencies, call: Call): Promise<Answer> {
  const attachments = new Attachments(deps.context);

  const subject = await getChangeableSubject(deps, call);
  await attachments.remove(subject.repository, await getAttachment(deps, call, subject));
  return noContent;
}
