import { z } from 'zod';
import type { DataPlan, DataPlanHint, DataPlanNode } from '../../contracts/data/sql.ts';

/** Node of `EXPLAIN (FORMAT JSON)`, with the fields that are shown. */
const RawNode = z.looseObject({
  'Node Type': z.string(),
  'Join Type': z.string().optional(),
  Schema: z.string().optional(),
  'Relation Name': z.string().optional(),
  'Function Name': z.string().optional(),
  'CTE Name': z.string().optional(),
  'Index Name': z.string().optional(),
  'Total Cost': z.number(),
  'Plan Rows': z.number(),
  'Actual Rows': z.number().optional(),
  'Actual Loops': z.number().optional(),
  'Actual Total Time': z.number().optional(),
  'Rows Removed by Filter': z.number().optional(),
  'Rows Removed by Join Filter': z.number().optional(),
  'Rows Removed by Index Recheck': z.number().optional(),
  'Sort Space Type': z.string().optional(),
  get Plans() {
    return z.array(RawNode).optional();
  },
});
type RawNode = z.infer<typeof RawNode>;

/** Output of `EXPLAIN (FORMAT JSON)`. */
const RawPlan = z
  .array(
    z.looseObject({ Plan: RawNode, 'Planning Time': z.number().optional(), 'Execution Time': z.number().optional() }),
  )
  .min(1);

/** Types of nodes. */
const sequentialScan = 'Seq Scan';
const nestedLoop = 'Nested Loop';

/** Fields of a node with SQL expressions, in display order. */
const detailKinds = [
  'Index Cond',
  'Recheck Cond',
  'Hash Cond',
  'Merge Cond',
  'Join Filter',
  'Filter',
  'Sort Key',
  'Group Key',
  'One-Time Filter',
] as const;

/** Rows from which a sequential scan with a selective filter suggests an index. */
const minRowsForIndex = 1000;
/** Ratio between actual and estimated rows from which the statistics are considered outdated. */
const wrongEstimateRatio = 10;

/** Converts the output of `EXPLAIN (FORMAT JSON)`. @throws ZodError for other input. */
export function toPlan(output: unknown): DataPlan {
  const [explained] = z.parse(RawPlan, output);
  const raw: RawNode[] = [];
  const nodes: DataPlanNode[] = [];
  const visit = (node: RawNode, depth: number): void => {
    raw.push(node);
    nodes.push(toNode(node, depth));
    for (const child of node.Plans ?? []) visit(child, depth + 1);
  };
  if (explained !== undefined) visit(explained.Plan, 0);
  const weights = nodes.map(({ ownMs, ownCost }) => ownMs ?? ownCost);
  const costliest = weights.indexOf(Math.max(...weights));
  const [node, rawNode] = [nodes[costliest], raw[costliest]];
  return {
    nodes,
    costliest,
    hint: findHint(node, rawNode),
    planningMs: explained?.['Planning Time'] ?? null,
    executionMs: explained?.['Execution Time'] ?? null,
  };
}

function toNode(node: RawNode, depth: number): DataPlanNode {
  const children = node.Plans ?? [];
  const loops = node['Actual Loops'] ?? null;
  const totalMs = getTotalMs(node);
  const childCost = children.reduce((sum, child) => sum + child['Total Cost'], 0);
  const childMs = children.reduce((sum, child) => sum + (getTotalMs(child) ?? 0), 0);
  const source = node['Relation Name'] ?? node['Function Name'] ?? node['CTE Name'] ?? null;
  return {
    depth,
    operation: getOperation(node),
    relation: source === null || node.Schema === undefined ? source : `${node.Schema}.${source}`,
    index: node['Index Name'] ?? null,
    details: getDetails(node),
    totalCost: node['Total Cost'],
    // A limit costs less than its child, of which it reads only a part.
    ownCost: Math.max(0, node['Total Cost'] - childCost),
    estimatedRows: node['Plan Rows'],
    actualRows: loops === null ? null : Math.round((node['Actual Rows'] ?? 0) * loops),
    removedRows: loops === null ? null : Math.round(getRemovedRows(node) * loops),
    loops,
    totalMs,
    ownMs: totalMs === null ? null : Math.max(0, totalMs - childMs),
  };
}

/** PostgreSQL reports the average of all loops. */
function getTotalMs(node: RawNode): number | null {
  const [loops, average] = [node['Actual Loops'], node['Actual Total Time']];
  return loops === undefined || average === undefined ? null : average * loops;
}

function getRemovedRows(node: RawNode): number {
  return (
    (node['Rows Removed by Filter'] ?? 0) +
    (node['Rows Removed by Join Filter'] ?? 0) +
    (node['Rows Removed by Index Recheck'] ?? 0)
  );
}

/** Returns the operation as the text format of EXPLAIN writes it: `Hash Left Join`. */
function getOperation({ 'Node Type': type, 'Join Type': join }: RawNode): string {
  if (join === undefined || join === 'Inner') return type;
  return type === nestedLoop ? `${type} ${join} Join` : type.replace(/ ?Join$/, ` ${join} Join`);
}

function getDetails(node: RawNode): DataPlanNode['details'] {
  return detailKinds.flatMap((kind) => {
    const value: unknown = node[kind];
    if (typeof value === 'string') return [{ kind, text: value }];
    return Array.isArray(value) ? [{ kind, text: value.map(String).join(', ') }] : [];
  });
}

/** Returns the advice for the most expensive step. */
function findHint(node: DataPlanNode | undefined, raw: RawNode | undefined): DataPlanHint {
  if (node === undefined || raw === undefined) return 'none';
  const { actualRows, removedRows, estimatedRows, loops } = node;
  if (raw['Sort Space Type'] === 'Disk') return 'sort_memory';
  const hasFilter = node.details.some(({ kind }) => kind === 'Filter');
  if (raw['Node Type'] === sequentialScan && hasFilter) {
    // Without ANALYZE only the estimate of the remaining rows is known.
    const isLarge = removedRows === null ? node.ownCost >= minRowsForIndex / 10 : removedRows >= minRowsForIndex;
    const isSelective = removedRows === null || removedRows > (actualRows ?? 0);
    if (isLarge && isSelective) return 'index';
  }
  if (actualRows !== null && loops !== null && loops > 0) {
    const ratio = (actualRows / loops + 1) / (estimatedRows + 1);
    if (ratio >= wrongEstimateRatio || ratio <= 1 / wrongEstimateRatio) return 'statistics';
  }
  return raw['Node Type'] === nestedLoop && node.details.length > 0 ? 'join' : 'none';
}
