import type { NotificationType } from '../../contracts/notify/notification.ts';
import { matchesAnywhere } from './pattern.ts';
import type { Target } from './target.ts';

/** Rule for matching mails, in addition to their recipients. */
export interface Rule {
  /** Patterns of {@link matchesAnywhere}; an empty one matches every mail. */
  readonly from: string;
  readonly subject: string;
  readonly to: string;
  /** Accepts the mail and keeps it in the spool without delivery. */
  readonly drop: boolean;
  readonly type: NotificationType | undefined;
  readonly priority: number | undefined;
  /** Replaces the tag of notify targets. */
  readonly tag: string | undefined;
  /** Replaces the targets of recipients, unless empty. */
  readonly targets: readonly Target[];
}

/** Properties of a mail that rules compare. */
export interface RuleInput {
  readonly sender: string;
  readonly from: string;
  readonly subject: string;
  readonly recipients: readonly string[];
}

/** Returns the first matching rule and its number, starting at 1. */
export function findRule(
  rules: readonly Rule[],
  { sender, from, subject, recipients }: RuleInput,
): { readonly rule: Rule; readonly number: number } | undefined {
  const index = rules.findIndex(
    (rule) =>
      [from, sender].some((text) => matchesAnywhere(rule.from, text)) &&
      matchesAnywhere(rule.subject, subject) &&
      (rule.to === '' || recipients.some((recipient) => matchesAnywhere(rule.to, recipient))),
  );
  const rule = rules[index];
  return rule && { rule, number: index + 1 };
}
