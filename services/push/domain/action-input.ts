/** Unvalidated action of a publish request. */
export interface ActionInput {
  action: string;
  label: string;
  clear: boolean;
  url: string;
  method: string;
  headers: Record<string, string>;
  body: string;
  intent: string;
  extras: Record<string, string>;
  value: string;
}
