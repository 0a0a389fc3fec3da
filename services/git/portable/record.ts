import { z } from 'zod';
import { isReferenceName } from '../domain/names.ts';
import { entryKinds } from '../store/issue-tables.ts';
import { statusStates } from '../statuses/statuses.ts';
import { parseJson } from '../../contracts/parse-json.ts';
import { isRecord } from '../../contracts/is-record.ts';

const number = z.int();
const flag = z.int().min(0).max(1);
const optionalNumber = z.int().nullable();
const text = z.string();
const name = z.string().max(255);
const jsonObject = text.refine(isJsonObject);
const commit = z.string().regex(/^([0-9a-f]{40})?$/);

/** Content of a repository file except its objects. IDs are those of the source. */
export const RepositoryRecord = z.object({
  format: z.literal('homeport-repository'),
  version: z.literal(1),
  savedAt: number,
  repository: z.object({
    owner: name,
    name,
    description: text,
    website: text,
    private: z.boolean(),
    archived: z.boolean(),
    template: z.boolean(),
    topics: z.array(name),
    options: z.record(text, z.unknown()),
    defaultBranch: text.refine(isReferenceName),
  }),
  lastNumber: number,
  labels: z.array(
    z.object({
      id: number,
      name,
      color: text.regex(/^[0-9a-f]{6}$/i),
      description: text,
      exclusive: flag,
      archived: flag,
    }),
  ),
  milestones: z.array(
    z.object({
      id: number,
      title: name,
      description: text,
      closed: flag,
      due_at: optionalNumber,
      created_at: number,
      updated_at: number,
      closed_at: optionalNumber,
    }),
  ),
  issues: z.array(
    z.object({
      id: number,
      number,
      pull: flag,
      author: name,
      title: text,
      body: text,
      closed: flag,
      locked: flag,
      ref: text,
      milestone_id: optionalNumber,
      comments: number,
      due_at: optionalNumber,
      created_at: number,
      updated_at: number,
      closed_at: optionalNumber,
      pin_order: number.min(0).default(0),
    }),
  ),
  issue_labels: z.array(z.object({ issue_id: number, label_id: number })),
  issue_assignees: z.array(z.object({ issue_id: number, account: name })),
  issue_reactions: z.array(
    z.object({ issue_id: number, entry_id: number, account: name, content: name, created_at: number }),
  ),
  tracked_times: z
    .array(z.object({ issue_id: number, account: name, seconds: number.min(1), created_at: number }))
    .default([]),
  issue_attachments: z
    .array(
      z.object({
        issue_id: number,
        entry_id: number,
        account: name,
        name,
        size: number,
        uuid: z.uuid(),
        downloads: number,
        created_at: number,
      }),
    )
    .default([]),
  issue_dependencies: z.array(z.object({ issue_id: number, depends_on: number, created_at: number })).default([]),
  reviews: z.array(
    z.object({
      id: number,
      issue_id: number,
      author: name,
      body: text,
      commit_id: text,
      dismissed: flag,
      official: flag,
      state: z.enum(['PENDING', 'COMMENT', 'APPROVED', 'REQUEST_CHANGES']),
      created_at: number,
      updated_at: number,
    }),
  ),
  review_requests: z.array(z.object({ issue_id: number, account: name })),
  issue_entries: z.array(
    z.object({
      id: number,
      issue_id: number,
      kind: z.enum(entryKinds),
      author: name,
      body: text,
      details: jsonObject,
      review_id: optionalNumber,
      created_at: number,
      updated_at: number,
    }),
  ),
  pulls: z.array(
    z.object({
      issue_id: number,
      head_branch: text,
      base_branch: text,
      head_commit: commit,
      merge_base: commit,
      /** The head branch belongs to the same repository. */
      own: z.boolean(),
      maintainer_edit: flag,
      merged_commit: commit.nullable(),
      merged_at: optionalNumber,
      merged_by: name.nullable(),
    }),
  ),
  protections: z.array(z.object({ rule: name, options: jsonObject, created_at: number, updated_at: number })),
  tag_protections: z
    .array(z.object({ pattern: name, accounts: text.refine(isJsonList), created_at: number, updated_at: number }))
    .default([]),
  commit_statuses: z.array(
    z.object({
      commit_id: commit,
      context: name,
      state: z.enum(statusStates),
      target_url: text,
      description: text,
      account: name,
      created_at: number,
    }),
  ),
  releases: z.array(
    z.object({
      id: number,
      tag: name,
      target: text,
      title: text,
      body: text,
      draft: flag,
      prerelease: flag,
      author: name,
      created_at: number,
      published_at: number,
    }),
  ),
  release_assets: z.array(
    z.object({ release_id: number, name, size: number, uuid: z.uuid(), downloads: number, created_at: number }),
  ),
  largeFiles: z.array(z.object({ oid: text.regex(/^[0-9a-f]{64}$/), size: number.min(0) })),
});
export type RepositoryRecord = z.infer<typeof RepositoryRecord>;

function isJsonObject(json: string): boolean {
  return isRecord(parseJson(json));
}

function isJsonList(json: string): boolean {
  const value = parseJson(json);
  return Array.isArray(value) && value.every((each) => typeof each === 'string');
}
