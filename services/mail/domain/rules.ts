import type { NotificationType } from '../../contracts/notify/notification.ts';
import { fits } from './pattern.ts';
import type { Target } from './target.ts';

/** What is done with mails that fit, besides what their recipients say. */
export interface Rule {
  /** Patterns as {@link fits} reads them; an empty one fits every mail. */
  readonly from: string;
  readonly subject: string;
  readonly to: string;
  /** Taken with 250 and kept in the spool, but handed to nobody. */
  readonly drop: boolean;
  readonly type: NotificationType | undefined;
  readonly priority: number | undefined;
  /** In place of the tag of destinations that are notification keys. */
  readonly tag: string | undefined;
  /** In place of the recipients' destinations; empty leaves them. */
  readonly targets: readonly Target[];
}

/** What rules look at. */
export interface RuleSubject {
  readonly sender: string;
  readonly from: string;
  readonly subject: string;
  readonly recipients: readonly string[];
}

/** The first rule that fits, and its number from 1. */
export function ruleFor(
  rules: readonly Rule[],
  { sender, from, subject, recipients }: RuleSubject,
): { readonly rule: Rule; readonly number: number } | undefined {
  const index = rules.findIndex(
    (rule) =>
      [from, sender].some((text) => fits(rule.from, text)) &&
      fits(rule.subject, subject) &&
      (rule.to === '' || recipients.some((recipient) => fits(rule.to, recipient))),
  );
  const rule = rules[index];
  return rule && { rule, number: index + 1 };
}
