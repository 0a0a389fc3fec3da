import type { DataPolicyInput, PolicyCommand } from '../../../../../services/contracts/data/policies.ts';
import { policyCommands } from '../../../../../services/contracts/data/policies.ts';
import type { DataPolicy } from '../../../../../services/contracts/data/rows.ts';
import { toWrittenCondition } from './policy-condition.ts';

/** Creates the draft of a new policy with the fields of a template. */
export function createPolicyDraft(fields: Partial<DataPolicyInput> = {}): DataPolicyInput {
  return { name: '', isPermissive: true, command: 'ALL', roles: [], condition: '', check: '', ...fields };
}

/** Creates the draft that changes an existing policy. */
export function toPolicyDraft({ name, isPermissive, command, roles, condition, check }: DataPolicy): DataPolicyInput {
  return {
    name,
    isPermissive,
    command: policyCommands.find((each): each is PolicyCommand => each === command) ?? 'ALL',
    roles: [...roles],
    condition: toWrittenCondition(condition ?? ''),
    check: toWrittenCondition(check ?? ''),
  };
}

/** Creates the input that restores a deleted policy. */
export function toPolicyInput(policy: DataPolicy): DataPolicyInput {
  return { ...toPolicyDraft(policy), condition: policy.condition ?? '', check: policy.check ?? '' };
}
