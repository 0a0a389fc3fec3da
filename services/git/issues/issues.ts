import { sql, type Kysely, type SelectQueryBuilder } from 'kysely';
import { parseSearch } from '../../kit/search-terms.ts';
import type { Repositories } from '../repositories/repositories.ts';
import type { RepositoryVisibility } from '../repositories/repository-query.ts';
import type { AttachmentRow } from '../store/issue-relations.ts';
import type { IssueRow, LabelRow, PullRow } from '../store/issue-tables.ts';
import type { Tables } from '../store/tables.ts';
import { matchesPhrases } from './search-index.ts';
import { selectMilestones, type Milestone } from './milestones.ts';

/** Issue with labels, assignees, attachments and milestone. */
export interface Issue extends IssueRow {
  readonly labels: readonly LabelRow[];
  readonly assignees: readonly string[];
  readonly attachments: readonly AttachmentRow[];
  readonly milestone: Milestone | undefined;
  /** Present for a pull request. */
  readonly request: PullRow | undefined;
}

export const issueSorts = [
  'newest',
  'oldest',
  'recentupdate',
  'leastupdate',
  'recentclose',
  'mostcomment',
  'leastcomment',
] as const;
export type IssueSort = (typeof issueSorts)[number];

/** Filters, order and page of an issue list. Omitted filters match everything. */
export interface IssueQuery {
  /** ID of a repository, or the visible repositories. */
  readonly scope: number | RepositoryVisibility;
  readonly owner?: string | undefined;
  readonly closed?: boolean | undefined;
  readonly pull?: boolean | undefined;
  readonly searchText?: string | undefined;
  /** Label names; all are required. Names with the prefix `-` are excluded. */
  readonly labels?: readonly string[] | undefined;
  readonly labelIds?: readonly number[] | undefined;
  /** Titles or IDs of milestones; one must match. */
  readonly milestones?: readonly string[] | undefined;
  readonly since?: number | undefined;
  readonly before?: number | undefined;
  readonly author?: string | undefined;
  readonly assignee?: string | undefined;
  readonly mentioned?: string | undefined;
  readonly reviewRequested?: string | undefined;
  readonly reviewed?: string | undefined;
  readonly headOrBase?: readonly [head: string, base: string] | undefined;
  readonly sort?: IssueSort | undefined;
  readonly limit: number;
  readonly offset: number;
}

type Query<Row> = SelectQueryBuilder<Tables, 'issues', Row>;

/** Reads issues and pull requests. */
export class Issues {
  readonly #db: Kysely<Tables>;
  readonly #repositories: Repositories;

  constructor(db: Kysely<Tables>, repositories: Repositories) {
    this.#db = db;
    this.#repositories = repositories;
  }

  async find(repository: number, number: number): Promise<Issue | undefined> {
    const row = await this.#db
      .selectFrom('issues')
      .selectAll()
      .where('repository_id', '=', repository)
      .where('number', '=', number)
      .executeTakeFirst();
    return row && (await this.complete([row]))[0];
  }

  async findById(id: number): Promise<Issue | undefined> {
    const row = await this.#db.selectFrom('issues').selectAll().where('id', '=', id).executeTakeFirst();
    return row && (await this.complete([row]))[0];
  }

  async list(query: IssueQuery): Promise<{ readonly issues: readonly Issue[]; readonly total: number }> {
    const [column, direction] = sortOrders[query.sort ?? 'newest'];
    const [rows, total] = await Promise.all([
      this.#applyFilters(this.#db.selectFrom('issues').selectAll('issues'), query)
        .orderBy(column, direction)
        .orderBy('issues.id', direction)
        .limit(query.limit)
        .offset(query.offset)
        .execute(),
      this.count(query),
    ]);
    return { issues: await this.complete(rows), total };
  }

  async count(query: Omit<IssueQuery, 'limit' | 'offset'>): Promise<number> {
    const countRows = this.#db.selectFrom('issues').select((is) => is.fn.countAll<number>().as('count'));
    return Number((await this.#applyFilters(countRows, query).executeTakeFirst())?.count ?? 0);
  }

  /** Adds labels, assignees, attachments and milestones to rows. The order is retained. */
  async complete(rows: readonly IssueRow[]): Promise<readonly Issue[]> {
    if (rows.length === 0) return [];
    const ids = rows.map(({ id }) => id);
    const milestones = [...new Set(rows.flatMap(({ milestone_id: id }) => (id === null ? [] : [id])))];
    const [labels, assignees, milestoneRows, pulls, attachments] = await Promise.all([
      this.#db
        .selectFrom('issue_labels')
        .innerJoin('labels', 'labels.id', 'issue_labels.label_id')
        .selectAll('labels')
        .select('issue_labels.issue_id')
        .where('issue_labels.issue_id', 'in', ids)
        .orderBy('labels.name')
        .execute(),
      this.#db.selectFrom('issue_assignees').selectAll().where('issue_id', 'in', ids).orderBy('account').execute(),
      milestones.length === 0 ? [] : selectMilestones(this.#db).where('milestones.id', 'in', milestones).execute(),
      this.#db.selectFrom('pulls').selectAll().where('issue_id', 'in', ids).execute(),
      this.#db
        .selectFrom('issue_attachments')
        .selectAll()
        .where('issue_id', 'in', ids)
        .where('entry_id', '=', 0)
        .orderBy('id')
        .execute(),
    ]);
    return rows.map((row) => ({
      ...row,
      labels: labels.filter(({ issue_id }) => issue_id === row.id),
      assignees: assignees.flatMap(({ issue_id, account }) => (issue_id === row.id ? [account] : [])),
      attachments: attachments.filter(({ issue_id }) => issue_id === row.id),
      milestone: milestoneRows.find(({ id }) => id === row.milestone_id),
      request: pulls.find(({ issue_id }) => issue_id === row.id),
    }));
  }

  #applyFilters<Row>(rows: Query<Row>, query: Omit<IssueQuery, 'limit' | 'offset'>): Query<Row> {
    const db = this.#db;
    let filtered = rows;
    if (typeof query.scope === 'number') filtered = filtered.where('issues.repository_id', '=', query.scope);
    else
      filtered = filtered.where(
        'issues.repository_id',
        'in',
        this.#repositories.selectIds({ visibility: query.scope, owner: query.owner }),
      );
    if (query.closed !== undefined) filtered = filtered.where('issues.closed', '=', Number(query.closed));
    if (query.pull !== undefined) filtered = filtered.where('issues.pull', '=', Number(query.pull));
    const phrases = parseSearch(query.searchText ?? '');
    if (phrases.length > 0) filtered = filtered.where(matchesPhrases(db, sql.ref('issues.id'), phrases));
    for (const name of query.labels ?? []) {
      const labeled = db
        .selectFrom('issue_labels')
        .innerJoin('labels', 'labels.id', 'issue_labels.label_id')
        .select('issue_labels.issue_id')
        .where('labels.name', '=', name.replace(/^-/, ''));
      filtered = filtered.where('issues.id', name.startsWith('-') ? 'not in' : 'in', labeled);
    }
    for (const id of query.labelIds ?? []) {
      filtered = filtered.where(
        'issues.id',
        'in',
        db.selectFrom('issue_labels').select('issue_id').where('label_id', '=', id),
      );
    }
    if (query.milestones !== undefined && query.milestones.length > 0) {
      const ids = query.milestones.filter((text) => /^\d{1,15}$/.test(text)).map(Number);
      const milestoneIds = db
        .selectFrom('milestones')
        .select('id')
        .where((is) => is.or([is('title', 'in', [...(query.milestones ?? [])]), is('id', 'in', [0, ...ids])]));
      filtered = filtered.where('issues.milestone_id', 'in', milestoneIds);
    }
    if (query.since !== undefined) filtered = filtered.where('issues.updated_at', '>=', query.since);
    if (query.before !== undefined) filtered = filtered.where('issues.updated_at', '<=', query.before);
    if (query.author !== undefined) filtered = filtered.where('issues.author', '=', query.author);
    return this.#applyRelationFilters(filtered, query);
  }

  #applyRelationFilters<Row>(rows: Query<Row>, query: Omit<IssueQuery, 'limit' | 'offset'>): Query<Row> {
    const db = this.#db;
    let filtered = rows;
    const withAccount = (table: 'issue_assignees' | 'issue_mentions' | 'review_requests', account: string) =>
      filtered.where('issues.id', 'in', db.selectFrom(table).select('issue_id').where('account', '=', account));
    if (query.assignee !== undefined) filtered = withAccount('issue_assignees', query.assignee);
    if (query.mentioned !== undefined) filtered = withAccount('issue_mentions', query.mentioned);
    if (query.reviewRequested !== undefined) filtered = withAccount('review_requests', query.reviewRequested);
    if (query.reviewed !== undefined) {
      filtered = filtered.where(
        'issues.id',
        'in',
        db.selectFrom('reviews').select('issue_id').where('author', '=', query.reviewed),
      );
    }
    if (query.headOrBase !== undefined) {
      const [head, base] = query.headOrBase;
      let branches = db.selectFrom('pulls').select('issue_id');
      if (head !== '') branches = branches.where('head_branch', '=', head);
      if (base !== '') branches = branches.where('base_branch', '=', base);
      filtered = filtered.where('issues.id', 'in', branches);
    }
    return filtered;
  }
}

const sortOrders = {
  newest: ['issues.created_at', 'desc'],
  oldest: ['issues.created_at', 'asc'],
  recentupdate: ['issues.updated_at', 'desc'],
  leastupdate: ['issues.updated_at', 'asc'],
  recentclose: ['issues.closed_at', 'desc'],
  mostcomment: ['issues.comments', 'desc'],
  leastcomment: ['issues.comments', 'asc'],
} as const;
