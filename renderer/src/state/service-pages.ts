import { createContext } from 'svelte';

/** Where the page of a service is; undefined where it has none, or this person may not open it. Set by the frame, which knows the pages. */
export const [servicePages, setServicePages] = createContext<(service: string) => string | undefined>();
