/** Time before the end of a debrid plan, in ms, from which pages and notifications warn. */
export const planWarningMs = 7 * 24 * 3_600_000;
