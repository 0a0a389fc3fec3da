import * as m from '#messages/push-problems';
import { implement, type ApiHandler } from '../../contracts/api.ts';
import { Problem } from '../../contracts/problem.ts';
import { pushApi, type WrittenAction } from '../../contracts/push/api.ts';
import type { Context } from '../../contracts/service.ts';
import type { Attachments } from '../attachments/attachments.ts';
import { FileDrafts } from '../attachments/drafts.ts';
import { detectionBytes } from '../../kit/file-type.ts';
import { parseActions } from '../domain/actions.ts';
import { toLinkedAttachment } from '../domain/attachment-name.ts';
import type { Attachment } from '../domain/message.ts';
import { getFileMessage } from '../domain/publication.ts';
import { findRefusal } from '../domain/refusals.ts';
import { invalidField } from '../domain/invalid-field.ts';
import type { Limits } from '../access/limits.ts';
import { createSecretId } from '../publish/message-ids.ts';
import type { Publisher } from '../publish/publisher.ts';
import { AttachmentStore } from '../store/attachments.ts';
import { readBody } from '../ntfy-api/body.ts';
import { parseDueTime } from './fields.ts';
import { toPageMessage } from './page-message.ts';
import type { TopicPermissions } from './topic-permissions.ts';

export interface ComposeDependencies {
  readonly context: Pick<Context, 'clock' | 'random' | 'commit' | 'db'>;
  readonly publisher: Publisher;
  readonly attachments: Attachments;
  readonly permissions: TopicPermissions;
  readonly limits: Pick<Limits, 'getKey' | 'attachmentTotal' | 'bandwidthLeft' | 'bandwidth'>;
  /** Bytes. */
  readonly messageSizeLimit: () => number;
  /** Maximum delay in seconds. */
  readonly maxDelaySeconds: () => number;
}

/** Handlers for composing a message: limits, uploads and publishing. */
export function composeHandlers(dependencies: ComposeDependencies): readonly ApiHandler[] {
  const { context, attachments, messageSizeLimit, maxDelaySeconds } = dependencies;
  const drafts = new FileDrafts(context, new AttachmentStore(context.db), attachments);
  return [
    implement(pushApi.limits, () => {
      const { size, seconds } = attachments.bounds;
      const file = attachments.enabled ? size : 0;
      return { message: messageSizeLimit(), file, fileSeconds: seconds, delaySeconds: maxDelaySeconds() };
    }),
    createUploadHandler(dependencies, drafts),
    createPublishHandler(dependencies, drafts),
  ];
}

/** Stores a file for a message that is published later. */
function createUploadHandler(dependencies: ComposeDependencies, drafts: FileDrafts): ApiHandler {
  const { context, attachments, permissions, limits } = dependencies;
  return implement(pushApi.upload, async ({ identity, params, query, incoming, remoteAddress: address }) => {
    if (incoming === undefined) throw new Problem('push.no_upload', 400, m.uploadMissing());
    const sender = { identity, address };
    try {
      permissions.require(identity, 'write', params['topic']);
      if (!attachments.enabled) throw invalidField('file', m.filesDisabled());
      attachments.admit(incoming, 0);
      const { bytes } = await readBody(incoming, detectionBytes);
      const file = await drafts.receive({
        request: incoming,
        id: createSecretId(context),
        name: query.name,
        head: bytes,
        sender: limits.getKey(sender),
        quota: limits.attachmentTotal(sender),
        remainingTraffic: limits.bandwidthLeft(sender),
      });
      limits.bandwidth(sender, file.size);
      return file;
    } catch (error) {
      throw toFieldProblem(error);
    }
  });
}

/** Publishes a message with its uploaded or linked file. */
function createPublishHandler(dependencies: ComposeDependencies, drafts: FileDrafts): ApiHandler {
  const { context, publisher, permissions, limits, messageSizeLimit, maxDelaySeconds } = dependencies;
  const { clock, random } = context;
  return implement(pushApi.publish, async ({ identity, body, remoteAddress: address }) => {
    const { title, priority, tags, click, markdown } = body;
    const topic = permissions.require(identity, 'write', body.topic);
    const due = parseDueTime(body.delay.trim(), clock.now(), maxDelaySeconds());
    const text = body.message.trim();
    if (text === '' && body.file === undefined && body.attach === undefined)
      throw invalidField('message', m.messageMissing());
    if (Buffer.byteLength(text) >= messageSizeLimit()) {
      throw invalidField('message', m.messageTooLong({ limit: messageSizeLimit() }));
    }
    const actions = parseActions(JSON.stringify(body.actions.map(toNtfyAction)), () => random.text(10));
    const messageExpires = publisher.getExpiry({ topic }, due ?? Math.floor(clock.now() / 1000));
    const attachment =
      (await claimDraft(drafts, {
        id: body.file,
        name: body.filename,
        due,
        messageExpires,
        sender: limits.getKey({ identity, address }),
      })) ?? toLinkedAttachment(body.attach ?? '', body.filename);
    const message = text || getFileMessage(attachment?.name ?? '');
    const draft = {
      event: 'message' as const,
      topic,
      title: title.trim(),
      message,
      priority,
      tags,
      markdown,
      actions,
      attachment,
      cached: true,
      due,
      account: identity?.account,
      inbox: { source: 'push', body: message },
      ...(click === undefined ? {} : { click }),
    };
    const envelope = await publisher.publish(draft, undefined, body.file);
    // `publish` returns undefined only for repeated keys, and page messages have none.
    if (envelope === undefined) throw new Problem('push.not_published', 500, m.notPublished);
    return toPageMessage(envelope.message, envelope.seq ?? 0);
  });
}

interface DraftClaim {
  /** Id of the upload; undefined without a file. */
  readonly id: string | undefined;
  readonly name: string;
  readonly due: number | undefined;
  readonly messageExpires: number;
  /** Key of the sender in the limits. */
  readonly sender: string;
}

/** @throws Problem with the field of the form */
async function claimDraft(drafts: FileDrafts, claim: DraftClaim): Promise<Attachment | undefined> {
  const { id } = claim;
  if (id === undefined) return undefined;
  const attachment = await drafts.claim({ ...claim, id }).catch((error: unknown) => {
    throw toFieldProblem(error);
  });
  if (attachment === undefined) throw invalidField('file', m.uploadGone());
  return attachment;
}

/** Returns the action in the JSON form of ntfy clients. */
function toNtfyAction({ kind, label, url, method, body, clear }: WrittenAction) {
  return {
    action: kind,
    label,
    url,
    clear,
    ...(kind === 'http' ? { method, body: method === 'GET' ? '' : body } : {}),
  };
}

/** Converts refusals of files into field errors of the form. */
function toFieldProblem(error: unknown): unknown {
  const code = error instanceof Problem ? findRefusal(error)?.code : undefined;
  if (code === 41301) return invalidField('file', m.fileTooLarge());
  if (code === 42905) return invalidField('file', m.trafficExceeded());
  if (code === 40015) return invalidField('delay', m.fileExpiresFirst());
  return error;
}
