/** An action as it was written, before it is checked. */
export interface WrittenAction {
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
