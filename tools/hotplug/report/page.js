// SPDX-License-Identifier: GPL-2.0
// What the page cannot do by itself: find rows by name, copy a command, open all rows, and the one that an address names, and all of them
// for the printer. No less-than sign and no ampersand: the page is XML, too.
'use strict';
const rows = Array.from(document.querySelectorAll('.row'));
for (const part of document.querySelectorAll('.search, .copy, .expand')) part.hidden = false;

const find = document.getElementById('find');
find.addEventListener('input', () => {
    const wanted = find.value.trim().toLowerCase();
    for (const row of rows) row.hidden = !row.id.toLowerCase().includes(wanted);
});
document.querySelector('.filter').addEventListener('submit', (event) => event.preventDefault());

const expand = document.querySelector('.expand');
const openAll = (open) => {
    for (const row of rows) row.open = open;
    expand.textContent = open ? 'Collapse all' : 'Expand all';
};
expand.addEventListener('click', () => openAll(!rows.every((row) => row.open)));
window.addEventListener('beforeprint', () => openAll(true));

const openNamed = () => {
    const row = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (rows.includes(row)) row.open = true;
};
window.addEventListener('hashchange', openNamed);
openNamed();

// Pages opened from a disk may have no clipboard of their own.
const copy = async (code) => {
    try {
        await navigator.clipboard.writeText(code.textContent);
    } catch {
        getSelection().selectAllChildren(code);
        document.execCommand('copy');
    }
};
for (const button of document.querySelectorAll('.copy')) {
    button.addEventListener('click', async () => {
        await copy(button.parentElement.querySelector('code'));
        button.textContent = 'Copied';
    });
}
