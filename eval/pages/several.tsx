/** The views of several runs, in a script of their own: whoever looks at one does not need it. */
export { CompareView } from "./compare/compare_view.tsx";
export { GroupView } from "./groups/group_view.tsx";
