#include "fixture.h"

namespace lastref::simdriver::test {
namespace {

class user_objects : public driver_test {
  protected:
    static CUgraph holding(CUuserObject object, unsigned references = 1) {
        CUgraph const graph = make_graph();
        add_empty(graph);
        EXPECT_EQ(cuGraphRetainUserObject(graph, object, references, CU_GRAPH_USER_OBJECT_MOVE), CUDA_SUCCESS);
        return graph;
    }
    static void runs_once(std::atomic<int>& destroyed) {
        EXPECT_TRUE(becomes(destroyed, 1));
        give_it_time();
        EXPECT_EQ(destroyed, 1);
    }
    static void stays(std::atomic<int>& destroyed) {
        give_it_time();
        EXPECT_EQ(destroyed, 0);
    }
    std::atomic<int> destroyed{0}, other_destroyed{0};
};

TEST_F(user_objects, arguments_are_checked) {
    CUuserObject object = nullptr;
    GIVES(CUDA_ERROR_INVALID_VALUE, cuUserObjectCreate(&object, nullptr, count, 1, 0));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuUserObjectCreate(&object, nullptr, count, 0, 1));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuUserObjectCreate(&object, nullptr, nullptr, 1, 1));
    object = make_user_object(destroyed);
    GIVES(CUDA_ERROR_INVALID_VALUE, cuUserObjectRetain(object, 0));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuUserObjectRelease(object, 0));
    OK(cuUserObjectRelease(object, 1));
    runs_once(destroyed);
}

TEST_F(user_objects, last_release_destroys) {
    CUuserObject const object = make_user_object(destroyed, 2);
    OK(cuUserObjectRetain(object, 1));
    OK(cuUserObjectRelease(object, 2));
    stays(destroyed);
    OK(cuUserObjectRelease(object, 1));
    runs_once(destroyed);
}

TEST_F(user_objects, over_release_is_silent_and_never_destroys) {
    GIVES(CUDA_SUCCESS, cuUserObjectRelease(make_user_object(destroyed), 2));
    stays(destroyed);
}

TEST_F(user_objects, graph_keeps_moved_and_retained_references) {
    CUuserObject const object = make_user_object(destroyed);
    CUgraph const graph = make_graph();
    OK(cuGraphRetainUserObject(graph, object, 1, 0));
    OK(cuUserObjectRelease(object, 1));
    stays(destroyed);
    OK(cuGraphDestroy(graph));
    runs_once(destroyed);
}

TEST_F(user_objects, graph_release_of_what_it_does_not_hold_takes_from_the_others) {
    CUuserObject const object = make_user_object(destroyed, 2);
    CUgraph const graph = make_graph();
    GIVES(CUDA_SUCCESS, cuGraphReleaseUserObject(graph, object, 1));
    stays(destroyed);
    OK(cuUserObjectRelease(object, 1));
    runs_once(destroyed);
    GIVES(CUDA_SUCCESS, cuUserObjectRelease(object, 1)) << "as silent as any release too many";
    OK(cuGraphDestroy(graph));
    runs_once(destroyed);
}

TEST_F(user_objects, clone_has_as_many_again) {
    CUuserObject const object = make_user_object(destroyed, 2);
    CUgraph const graph = holding(object, 2);
    CUgraph clone = nullptr;
    OK(cuGraphClone(&clone, graph));
    OK(cuGraphReleaseUserObject(clone, object, 1));
    OK(cuGraphDestroy(graph));
    stays(destroyed);
    OK(cuGraphReleaseUserObject(clone, object, 1));
    runs_once(destroyed);
    OK(cuGraphDestroy(clone));
}

TEST_F(user_objects, child_node_holds_its_own) {
    CUgraph const child = holding(make_user_object(destroyed)), parent = make_graph();
    CUgraphNode node = nullptr;
    OK(cuGraphAddChildGraphNode(&node, parent, nullptr, 0, child));
    OK(cuGraphDestroy(child));
    stays(destroyed);
    CUgraphExec const exec = instantiate(parent);
    OK(cuGraphDestroy(parent));
    stays(destroyed);
    OK(cuGraphExecDestroy(exec));
    runs_once(destroyed);
}

TEST_F(user_objects, update_replaces_references) {
    CUgraph const first = holding(make_user_object(destroyed)), second = holding(make_user_object(other_destroyed));
    CUgraphExec const exec = instantiate(first);
    OK(cuGraphDestroy(first));
    CUgraphExecUpdateResultInfo info{};
    OK(cuGraphExecUpdate(exec, second, &info));
    OK(cuGraphDestroy(second));
    runs_once(destroyed);
    stays(other_destroyed);
    OK(cuGraphExecDestroy(exec));
    runs_once(other_destroyed);
}

TEST_F(user_objects, child_update_replaces_the_childs_references) {
    CUgraph const child = holding(make_user_object(destroyed)), other = holding(make_user_object(other_destroyed));
    CUgraph const parent = make_graph();
    CUgraphNode node = nullptr;
    OK(cuGraphAddChildGraphNode(&node, parent, nullptr, 0, child));
    OK(cuGraphDestroy(child));
    CUgraphExec const exec = instantiate(parent);
    OK(cuGraphExecChildGraphNodeSetParams(exec, node, other));
    OK(cuGraphDestroy(other));
    OK(cuGraphDestroy(parent));
    runs_once(destroyed);
    stays(other_destroyed);
    OK(cuGraphExecDestroy(exec));
    runs_once(other_destroyed);
}

TEST_F(user_objects, launch_in_flight_keeps_references) {
    CUgraph const graph = holding(make_user_object(destroyed));
    CUgraphExec const exec = instantiate(graph);
    OK(cuGraphDestroy(graph));
    gate held(stream);
    OK(cuGraphLaunch(exec, stream));
    OK(cuGraphExecDestroy(exec));
    stays(destroyed);
    held.open();
    OK(cuStreamSynchronize(stream));
    runs_once(destroyed);
}

TEST_F(user_objects, launch_in_flight_keeps_references_over_an_update) {
    CUgraph const first = holding(make_user_object(destroyed)), second = holding(make_user_object(other_destroyed));
    CUgraphExec const exec = instantiate(first);
    CUgraphExecUpdateResultInfo info{};
    OK(cuGraphDestroy(first));
    gate held(stream);
    OK(cuGraphLaunch(exec, stream));
    OK(cuGraphExecUpdate(exec, second, &info));
    stays(destroyed);
    held.open();
    OK(cuStreamSynchronize(stream));
    runs_once(destroyed);
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(second));
    runs_once(other_destroyed);
}

TEST_F(user_objects, changed_host_node_moves_no_reference) {
    CUgraph const graph = holding(make_user_object(destroyed));
    std::atomic<int> old_calls{0}, new_calls{0};
    CUDA_HOST_NODE_PARAMS params{count, &old_calls}, changed{count, &new_calls};
    CUgraphNode node = nullptr;
    OK(cuGraphAddHostNode(&node, graph, nullptr, 0, &params));
    CUgraphExec const exec = instantiate(graph);
    OK(cuGraphExecHostNodeSetParams(exec, node, &changed));
    OK(cuGraphDestroy(graph));
    stays(destroyed);
    OK(cuGraphLaunch(exec, stream));
    OK(cuStreamSynchronize(stream));
    EXPECT_EQ(old_calls, 0);
    EXPECT_EQ(new_calls, 1);
    OK(cuGraphExecDestroy(exec));
    runs_once(destroyed);
}

struct seen {
    std::atomic<int> runs{0};
    std::thread::id thread;
    CUresult result = CUDA_SUCCESS, init = CUDA_ERROR_UNKNOWN;
};

void look(void* data) {
    auto& into = *static_cast<seen*>(data);
    CUcontext context = nullptr;
    into.thread = std::this_thread::get_id();
    into.result = cuCtxGetCurrent(&context);
    into.init = cuInit(0);
    ++into.runs;
}

TEST_F(user_objects, last_release_runs_the_destructor_on_its_thread_where_calls_are_refused) {
    seen destructor;
    CUuserObject object = nullptr;
    CUcontext context = nullptr;
    OK(cuUserObjectCreate(&object, &destructor, look, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    OK(cuUserObjectRelease(object, 1));
    EXPECT_EQ(destructor.runs, 1) << "before the release returns";
    EXPECT_EQ(destructor.thread, std::this_thread::get_id());
    EXPECT_EQ(destructor.result, CUDA_ERROR_NOT_PERMITTED);
    EXPECT_EQ(destructor.init, CUDA_SUCCESS);
    OK(cuCtxGetCurrent(&context)) << "allowed again";
}

TEST_F(user_objects, destructor_of_a_launch_runs_on_an_internal_thread_that_is_not_the_callbacks) {
    seen destructor, function;
    CUuserObject object = nullptr;
    OK(cuUserObjectCreate(&object, &destructor, look, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    CUgraph const graph = holding(object);
    CUgraphExec const exec = instantiate(graph);
    OK(cuGraphDestroy(graph));
    {
        gate held(stream);
        OK(cuGraphLaunch(exec, stream));
        OK(cuGraphExecDestroy(exec));
        EXPECT_EQ(destructor.runs, 0);
    }
    OK(cuLaunchHostFunc(stream, look, &function));
    OK(cuStreamSynchronize(stream));
    ASSERT_TRUE(becomes(destructor.runs, 1));
    EXPECT_NE(destructor.thread, std::this_thread::get_id());
    EXPECT_NE(destructor.thread, function.thread);
    EXPECT_EQ(destructor.result, CUDA_ERROR_NOT_PERMITTED);
    EXPECT_EQ(function.result, CUDA_ERROR_NOT_PERMITTED);
}

TEST_F(user_objects, callbacks_can_be_delayed) {
    ASSERT_EQ(lastref_simdriver_set("LASTREF_SIM_CALLBACK_US", "300000"), 0);
    OK(cuUserObjectRelease(make_user_object(destroyed), 1));
    give_it_time();
    EXPECT_EQ(destroyed, 0);
    runs_once(destroyed);
}

}  // namespace
}  // namespace lastref::simdriver::test
