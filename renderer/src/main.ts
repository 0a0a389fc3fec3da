import './jitless.ts';
import { mount } from 'svelte';
import App from './App.svelte';
import './fonts.css';
import './theme.css';
// Before anything is drawn: no flash of the other theme.
import './state/theme.svelte.ts';

const target = document.getElementById('app');
if (target) mount(App, { target });
